import { maximumKeyBytes } from '../http/address.ts';
import { compareUtf8 } from '../ports/utf8-order.ts';

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

/**
 * Returns a string that splits a range of keys: after `low` and not after `high`, about in the middle if the keys are
 * spread evenly. Returns undefined if no such string exists, or none that the table can look up.
 */
export function keyBetween(low: string, high: string): string | undefined {
  const [a, b] = [codePoints(low), codePoints(high)];
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  // Where the lower key has ended, the least character counts, NUL, which no key contains.
  const from = a[at] ?? 0;
  const to = b[at];
  if (to === undefined || to <= from) return undefined;
  const middle = String.fromCodePoint(...b.slice(0, at), noSurrogate(Math.ceil((from + to) / 2)));
  const fits = Buffer.byteLength(middle) <= maximumKeyBytes;
  return fits && compareUtf8(low, middle) < 0 && compareUtf8(middle, high) <= 0 ? middle : undefined;
}

function codePoints(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0)!);
}

/** Skips the surrogates, which no key contains: the first character after them stands for all. */
function noSurrogate(point: number): number {
  return point >= 0xd800 && point <= 0xdfff ? 0xe000 : point;
}
