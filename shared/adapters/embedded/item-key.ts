import type { ItemKey } from '../../ports/key-value-table.ts';

/**
 * The form of keys in the engine, which compares bytes: every byte of the partition key raised by one, a zero, the bytes of the
 * sort key. UTF-8 has no byte above 0xF4, so raising loses nothing; and after it no byte of a partition key is zero, so the
 * first zero ends it. Hence encoded keys are ordered as (bytes of pk, bytes of sk) are, whatever control characters either
 * holds, and nothing grows by escaping.
 */

/** What the engine takes: 1,978 bytes, less one that {@link rangeOf} may add. */
export const maxItemKeySize = 1977;

const separator = 0;
/** Above all bytes of UTF-8. */
const aboveText = 0xff;

/** @throws Error if a part is empty, or both together are too long for the engine */
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

/** The sort key of an encoded key of this partition. */
export function decodeSortKey(encoded: Buffer, pk: string): string {
  return encoded.toString('utf8', Buffer.byteLength(pk) + 1);
}

/** Both parts of an encoded key. */
export function decodeItemKey(encoded: Buffer): ItemKey {
  const end = encoded.indexOf(separator);
  const pk = Buffer.from(encoded.subarray(0, end));
  for (let index = 0; index < end; index += 1) pk[index]! -= 1;
  return { pk: pk.toString(), sk: encoded.toString('utf8', end + 1) };
}

/** Encoded keys from `start` on and before `end`. */
export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
}

/** The keys of a partition that are not before `from`, begin with `prefix`, and lie behind `after` in the walk's direction. */
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

/** The keys whose partition key begins with one of these: ranges in order, none of which overlaps another. */
export function rangesOf(prefixes: readonly string[]): readonly KeyRange[] {
  const starts = prefixes.map((prefix) => Buffer.from(Buffer.from(prefix).map((byte) => byte + 1)));
  const apart = starts
    .toSorted((a, b) => Buffer.compare(a, b))
    .filter((start, at, sorted) => !sorted.slice(0, at).some((other) => start.subarray(0, other.length).equals(other)));
  return apart.map((start) => ({
    // The engine takes no empty key; no encoded key begins with a separator.
    start: start.length > 0 ? start : Buffer.of(separator),
    end: Buffer.concat([start, Buffer.of(aboveText)]),
  }));
}

/** The first key that is greater: nothing lies between a byte string and itself followed by a zero. */
function successor(pk: string, sk: string): Buffer {
  return encode(pk, sk, 1);
}

/** The first key behind all that begin with the prefix. */
function prefixEnd(pk: string, prefix: string): Buffer {
  const end = encode(pk, prefix, 1);
  end[end.length - 1] = aboveText;
  return end;
}

/** No stored key is longer than {@link maxItemKeySize}, so a longer bound cuts where its beginning does. */
function clip(bound: Buffer): Buffer {
  return bound.subarray(0, maxItemKeySize + 1);
}

function later(a: Buffer, b: Buffer): Buffer {
  return Buffer.compare(a, b) < 0 ? b : a;
}

function earlier(a: Buffer, b: Buffer): Buffer {
  return Buffer.compare(a, b) < 0 ? a : b;
}

/** The encoded key, and room for so many more bytes, which are zero. */
function encode(pk: string, sk: string, room: number): Buffer {
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
