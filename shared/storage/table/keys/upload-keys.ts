import type { ItemKey } from '../../../ports/key-value-table.ts';
import { kinds } from './keys.ts';

/** The bytes of an object key that fit into a sort key beside an upload id. */
const indexedKeyBytes = 980;

/** Returns the partition of an upload's state and parts. */
export function uploadPartition(id: string): string {
  return kinds.upload + id;
}

/** Returns the partition of a bucket's list of open uploads. */
export function uploadIndexPartition(bucketId: string): string {
  return kinds.openUploads + bucketId;
}

/**
 * Returns the key of an upload in its bucket's list: the object key, truncated to what fits, and the upload id after a
 * NUL, which no object key contains. Entries whose keys were truncated alike are adjacent, and readers sort them again.
 */
export function uploadIndexKey(bucketId: string, key: string, id: string): ItemKey {
  return { pk: uploadIndexPartition(bucketId), sk: `${cutKey(key)}\0${id}` };
}

/**
 * Returns where the entries of uploads begin whose keys are at or after `from`, or after `after`. Object keys contain
 * no NUL, so NUL ends the key in an entry.
 */
export function indexStart(from: string | undefined, after: string | undefined): { readonly from?: string } {
  const key = from ?? after;
  if (key === undefined) return {};
  const cut = cutKey(key);
  return { from: after === cut ? `${cut}\u0001` : cut };
}

/** Returns the object key of an entry, truncated as stored. */
export function cutOf({ key }: { readonly key: ItemKey }): string {
  return key.sk.slice(0, key.sk.indexOf('\0'));
}

/** Truncates a key to at most 980 bytes of UTF-8, never within a character. */
export function cutKey(key: string): string {
  const bytes = Buffer.from(key);
  if (bytes.byteLength <= indexedKeyBytes) return key;
  let end = indexedKeyBytes;
  while ((bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

const only = '-';

/** The key of an upload's state. */
export const stateKey = (id: string): ItemKey => ({ pk: uploadPartition(id), sk: only });

/** The key of a part. */
export const partKey = (upload: string, part: { readonly number: number; readonly id: string }): ItemKey => ({
  pk: uploadPartition(upload),
  sk: partPrefix(part.number) + part.id,
});

/** The prefix of the sort keys of all parts of an upload. */
export const partsPrefix = 'p/';

/** The prefix of the sort keys of all parts with a part number: a part may be uploaded several times. */
export const partPrefix = (number: number): string => `${partsPrefix}${String(number).padStart(5, '0')}/`;

/** Parses keys. */
export const uploadKeyParts = {
  /** Returns the id of the upload that a state or a part belongs to; undefined for any other item. */
  upload: ({ pk }: ItemKey): string | undefined =>
    pk.startsWith(kinds.upload) ? pk.slice(kinds.upload.length) : undefined,
  /** Returns the number and the id of a part; undefined for any other item. */
  part: ({ pk, sk }: ItemKey): { readonly number: number; readonly id: string } | undefined => {
    if (!pk.startsWith(kinds.upload) || !sk.startsWith(partsPrefix)) return undefined;
    const [, number, id] = sk.split('/') as [string, string, string];
    return { number: Number(number), id };
  },
  /** Returns the bucket whose list of open uploads an item is in. */
  openUpload: ({ pk }: ItemKey): string => pk.slice(kinds.openUploads.length),
} as const;
