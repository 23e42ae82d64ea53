import { baseName } from '../../format/names.ts';
import type { Entry } from '../../s3/listing.ts';

/**
 * Returns the first row whose name begins with a text, ignoring case, or -1.
 *
 * @param text in lower case
 * @param from the row to begin at
 * @param start where names begin in their keys, if at the same place in all: the names in a folder. There may be 100,000.
 */
export function firstNamed(entries: readonly Entry[], text: string, from: number, start: number | undefined): number {
  const length = text.length;
  for (let row = from; row < entries.length; row++) {
    const { key } = entries[row]!;
    const at = start ?? key.length - baseName(key).length;
    if (
      key
        .slice(at, at + length)
        .toLowerCase()
        .startsWith(text)
    )
      return row;
  }
  return -1;
}
