import { baseName, visibleName } from '../../format/names.ts';
import { number, t } from '../../messages/messages.ts';
import type { Entry } from '../../s3/listing.ts';

/** Names what was chosen: one by its name, several by their number. */
export function namesOf(entries: readonly Entry[]): string {
  const [only] = entries;
  return entries.length === 1 && only !== undefined
    ? visibleName(baseName(only.key))
    : t.value.common.items(entries.length, number(entries.length));
}
