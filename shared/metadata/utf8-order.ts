import { maximumKeyBytes } from '../http/address.ts';

/**
 * Compares two strings by the bytes of their UTF-8 form, which is also the order of their code points. JavaScript's `<`
 * compares UTF-16: it puts U+1F600 before U+FF01, since the first begins with the surrogate 0xD83D.
 */
export function compareUtf8(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const x = a.charCodeAt(at);
    const y = b.charCodeAt(at);
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? behindSurrogates(x) - behindSurrogates(y) : x - y;
  }
  return a.length - b.length;
}

/** Moves the surrogates, which stand for all that is above U+FFFF, behind U+E000 to U+FFFF. */
function behindSurrogates(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

/** Where a walk over keys begins: at a key, if it is there, or behind it, or, with neither, at the first. */
export interface Start {
  readonly from?: string;
  readonly after?: string;
}

/**
 * Where to go on behind every key that begins with `prefix`; undefined if no key can follow.
 *
 * `prefix + '\xff'` is no string of bytes but of characters, and most keys are greater. So the last code point is counted
 * up, past the surrogates, which no key holds; U+10FFFF can't be counted up and is dropped, counting up what is before.
 * The answer is never longer than a key may be, since the table takes no longer sort keys.
 */
export function behindPrefix(prefix: string): Start | undefined {
  const bytes = Buffer.byteLength(prefix);
  if (bytes > maximumKeyBytes) return behindPrefix(cutToKey(prefix));
  // Only the key that equals a prefix of full length begins with it; and a greater last code point may take more bytes.
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
 * As much of a string as a key can hold. A key that goes on differently from here has too little room for the character
 * that was cut off, so its own next character is a shorter one and sorts before it: all such keys lie before the string.
 */
function cutToKey(text: string): string {
  const bytes = Buffer.from(text);
  let end = maximumKeyBytes;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
