import { maximumKeyBytes } from '../http/address.ts';
import { compareUtf8 } from '../ports/utf8-order.ts';

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
