import type { ItemKey } from '../ports/key-value-table.ts';

/** As much of a key as fits into a sort key beside an upload id. */
const indexedKeyBytes = 980;

/** The partition of an upload's state and parts. */
export function uploadPartition(id: string): string {
  return `upload/${id}`;
}

/** The partition that lists a bucket's open uploads. */
export function uploadIndexPartition(bucketId: string): string {
  return `uploads/${bucketId}`;
}

/**
 * The place of an upload in its bucket's list: the key, cut to what fits, and the upload id behind a NUL, which no key
 * contains. Keys that were cut alike stand together and are sorted again when they are read.
 */
export function uploadIndexKey(bucketId: string, key: string, id: string): ItemKey {
  return { pk: uploadIndexPartition(bucketId), sk: `${cutKey(key)}\0${id}` };
}

/** The first characters of a key, at most 980 bytes of UTF-8 and never half a character. */
export function cutKey(key: string): string {
  const bytes = Buffer.from(key);
  if (bytes.byteLength <= indexedKeyBytes) return key;
  let end = indexedKeyBytes;
  while ((bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
