import { maximumKeyBytes } from '../http/address.ts';

/**
 * The position where a walk over keys begins: at `from` (inclusive), after `after` (exclusive), or at the first key.
 */
export interface Start {
  readonly from?: string;
  readonly after?: string;
}

/**
 * Returns the position after every key that begins with `prefix`, or undefined if no key can follow.
 *
 * `prefix + '\xff'` would not do: it is a string of characters, not bytes, and most characters sort after it. Instead
 * the last code point is incremented, skipping the surrogates, which no key contains. U+10FFFF cannot be incremented:
 * it is dropped, and the code point before it is incremented. The result is never longer than a key may be, because the
 * table accepts no longer sort keys.
 */
export function behindPrefix(prefix: string): Start | undefined {
  const bytes = Buffer.byteLength(prefix);
  if (bytes > maximumKeyBytes) return behindPrefix(cutToKey(prefix));
  // Only the key equal to a full-length prefix begins with it; and a greater last code point may take more bytes.
  if (bytes === maximumKeyBytes) return { after: prefix };
  const points = Array.from(prefix, (character) => character.codePointAt(0)!);
  while (points.length > 0) {
    const last = points.pop()!;
    if (last === 0x10ffff) continue;
    return { from: String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1) };
  }
  return undefined;
}

/**
 * Returns the longest leading part of a string that fits into a key. A key that differs after this part has no room for
 * the character that was cut off, so its next character is a shorter one and sorts earlier: all such keys sort before
 * the string.
 */
function cutToKey(text: string): string {
  const bytes = Buffer.from(text);
  let end = maximumKeyBytes;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
