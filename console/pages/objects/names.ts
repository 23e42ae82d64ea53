import { baseName, visibleName } from '../../format/names.ts';
import { number, t } from '../../messages/messages.ts';
import type { Entry } from '../../s3/listing.ts';

/** The last segment of a key as it is shown: what is left of `a//` has no name at all. */
export const shownName = (key: string): string => visibleName(baseName(key)) || t.value.common.noName;

/** Names what was chosen: one by its name, several by their number. */
export function namesOf(entries: readonly Entry[]): string {
  const [only] = entries;
  return entries.length === 1 && only !== undefined
    ? shownName(only.key)
    : t.value.common.items(entries.length, number(entries.length));
}
