import { baseName, visibleName } from '../../format/names.ts';
import { number, t } from '../../messages/messages.ts';
import type { Entry } from '../../s3/listing.ts';

/** The last segment of a key as shown. The last segment of `a//` is empty, and gets a name. */
export const shownName = (key: string): string => visibleName(baseName(key)) || t.value.common.noName;

/** Describes the chosen entries: one by its name, several by their number. */
export function namesOf(entries: readonly Entry[]): string {
  const [only] = entries;
  return entries.length === 1 && only !== undefined
    ? shownName(only.key)
    : t.value.common.items(entries.length, number(entries.length));
}
