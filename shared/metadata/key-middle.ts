import { maximumKeyBytes } from '../http/address.ts';
import { compareUtf8 } from '../ports/utf8-order.ts';

/**
 * A string between two keys, by which a range that holds both can be cut: behind `low`, and not behind `high`. It is about in the middle
 * if the keys between them are spread evenly. Undefined if there is none, or none that the table could look for.
 */
export function keyBetween(low: string, high: string): string | undefined {
  const [a, b] = [codePoints(low), codePoints(high)];
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  // Where the lower key ends the least character counts; none of a key is NUL.
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

/** No key holds a surrogate: the first character behind them stands for all. */
function noSurrogate(point: number): number {
  return point >= 0xd800 && point <= 0xdfff ? 0xe000 : point;
}
