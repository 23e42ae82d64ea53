import type { ItemKey } from '../../ports/key-value-table.ts';

/**
 * The format of keys in engines that compare bytes: the bytes of the partition key, each incremented by one, then
 * a zero, then the bytes of the sort key. UTF-8 has no byte above 0xF4, so the increment does not overflow; after it,
 * no byte of the partition key is zero, so the first zero ends it. Encoded keys therefore sort by (bytes of pk, bytes
 * of sk), whatever control characters they contain, and no escaping makes them longer.
 */

/** The limit of LMDB, 1,978 bytes, less one that {@link rangeOf} may add. */
export const maxItemKeySize = 1977;

const separator = 0;
/** Greater than every byte of UTF-8. */
const aboveText = 0xff;

/** Encodes a key. @throws Error if a part is empty, or both together are too long for the engine */
export function encodeItemKey({ pk, sk }: ItemKey): Buffer {
  if (pk === '' || sk === '') throw new Error('a partition key or a sort key is empty');
  const encoded = encode(pk, sk, 0);
  if (encoded.length > maxItemKeySize) {
    throw new Error(
      `a partition key and a sort key have ${encoded.length - 1} bytes together; at most ${maxItemKeySize - 1} fit`,
    );
  }
  return encoded;
}

/** Returns the sort key of an encoded key in this partition. */
export function decodeSortKey(encoded: Buffer, pk: string): string {
  return encoded.toString('utf8', sortKeyOffset(pk));
}

/** Returns the offset of the sort key in the encoded keys of a partition. */
export function sortKeyOffset(pk: string): number {
  return Buffer.byteLength(pk) + 1;
}

/** Decodes both parts of a key. */
export function decodeItemKey(encoded: Buffer): ItemKey {
  const end = encoded.indexOf(separator);
  const pk = Buffer.from(encoded.subarray(0, end));
  for (let index = 0; index < end; index += 1) pk[index]! -= 1;
  return { pk: pk.toString(), sk: encoded.toString('utf8', end + 1) };
}

/** The encoded keys from `start` (inclusive) to `end` (exclusive). */
export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
}

/**
 * Returns the range of a partition's keys that are not before `from`, begin with `prefix`, and come after `after` in
 * the direction of the query.
 */
export function rangeOf(
  pk: string,
  options: { readonly from?: string; readonly after?: string; readonly prefix?: string; readonly reverse?: boolean },
): KeyRange {
  const { from = '', after, prefix = '', reverse = false } = options;
  let start = later(encode(pk, from, 0), encode(pk, prefix, 0));
  let end = prefixEnd(pk, prefix);
  if (after !== undefined && reverse) end = earlier(end, encode(pk, after, 0));
  if (after !== undefined && !reverse) start = later(start, successor(pk, after));
  return { start: clip(start), end: clip(end) };
}

/** Returns what is left of a range after one of its keys, in the direction of the query. */
export function restOf({ start, end }: KeyRange, last: Buffer, reverse: boolean): KeyRange {
  return reverse ? { start, end: last } : { start: Buffer.concat([last, Buffer.of(separator)]), end };
}

/** Returns the keys whose partition key has one of these prefixes, as sorted ranges that do not overlap. */
export function rangesOf(prefixes: readonly string[]): readonly KeyRange[] {
  const starts = prefixes.map((prefix) => Buffer.from(Buffer.from(prefix).map((byte) => byte + 1)));
  const apart = starts
    .toSorted((a, b) => Buffer.compare(a, b))
    .filter((start, at, sorted) => !sorted.slice(0, at).some((other) => start.subarray(0, other.length).equals(other)));
  return apart.map((start) => ({
    // LMDB rejects empty keys; no encoded key begins with a separator.
    start: start.length > 0 ? start : Buffer.of(separator),
    end: Buffer.concat([start, Buffer.of(aboveText)]),
  }));
}

/** Returns the next key: nothing lies between a byte string and the same string followed by a zero. */
function successor(pk: string, sk: string): Buffer {
  return encode(pk, sk, 1);
}

/** Returns the first key after all those with the prefix. */
function prefixEnd(pk: string, prefix: string): Buffer {
  const end = encode(pk, prefix, 1);
  end[end.length - 1] = aboveText;
  return end;
}

/**
 * Shortens a bound that is longer than {@link maxItemKeySize}. Since no stored key is longer, the result divides the
 * keys in the same place.
 */
function clip(bound: Buffer): Buffer {
  return bound.subarray(0, maxItemKeySize + 1);
}

function later(a: Buffer, b: Buffer): Buffer {
  return Buffer.compare(a, b) < 0 ? b : a;
}

function earlier(a: Buffer, b: Buffer): Buffer {
  return Buffer.compare(a, b) < 0 ? a : b;
}

/** The length of a partition key and a sort key together, above which built-in functions are faster than a loop. */
const loopLimit = 128;

/** Returns the encoded key, followed by this many zero bytes. */
function encode(pk: string, sk: string, room: number): Buffer {
  const pkSize = pk.length;
  const skStart = pkSize + 1;
  const skEnd = skStart + sk.length;
  if (skEnd > loopLimit) return encodeText(pk, sk, room);
  const encoded = Buffer.allocUnsafe(skEnd + room);
  let all = 0;
  for (let at = 0; at < pkSize; at += 1) {
    const code = pk.charCodeAt(at);
    all |= code;
    encoded[at] = code + 1;
  }
  encoded[pkSize] = separator;
  for (let at = skStart; at < skEnd; at += 1) {
    const code = sk.charCodeAt(at - skStart);
    all |= code;
    encoded[at] = code;
  }
  for (let at = skEnd; at < encoded.length; at += 1) encoded[at] = 0;
  const isAscii = all < 0x80;
  return isAscii ? encoded : encodeText(pk, sk, room);
}

/** As {@link encode}, for keys of any length and with any characters. */
function encodeText(pk: string, sk: string, room: number): Buffer {
  const pkSize = Buffer.byteLength(pk);
  const skStart = pkSize + 1;
  const skEnd = skStart + Buffer.byteLength(sk);
  const encoded = Buffer.allocUnsafe(skEnd + room);
  encoded.write(pk, 0);
  for (let index = 0; index < pkSize; index += 1) encoded[index]! += 1;
  encoded[pkSize] = separator;
  encoded.write(sk, skStart);
  encoded.fill(0, skEnd);
  return encoded;
}
