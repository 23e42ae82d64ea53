import { maximumKeyBytes } from '../http/address.ts';

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
