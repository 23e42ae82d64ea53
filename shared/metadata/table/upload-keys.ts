import type { ItemKey } from '../../ports/key-value-table.ts';
import { kinds } from './keys.ts';

/** As much of a key as fits into a sort key beside an upload id. */
const indexedKeyBytes = 980;

/** The partition of an upload's state and parts. */
export function uploadPartition(id: string): string {
  return kinds.upload + id;
}

/** The partition that lists a bucket's open uploads. */
export function uploadIndexPartition(bucketId: string): string {
  return kinds.openUploads + bucketId;
}

/**
 * The place of an upload in its bucket's list: the key, cut to what fits, and the upload id behind a NUL, which no key
 * contains. Keys that were cut alike stand together and are sorted again when they are read.
 */
export function uploadIndexKey(bucketId: string, key: string, id: string): ItemKey {
  return { pk: uploadIndexPartition(bucketId), sk: `${cutKey(key)}\0${id}` };
}

/** Where the entries of uploads begin whose keys are `from` or behind it, or behind `after`: no key has a NUL, which ends one there. */
export function indexStart(from: string | undefined, after: string | undefined): { readonly from?: string } {
  const key = from ?? after;
  if (key === undefined) return {};
  const cut = cutKey(key);
  return { from: after === cut ? `${cut}\u0001` : cut };
}

/** The key of an entry as far as it was kept: entries of keys that were cut alike stand together. */
export function cutOf({ key }: { readonly key: ItemKey }): string {
  return key.sk.slice(0, key.sk.indexOf('\0'));
}

/** The first characters of a key, at most 980 bytes of UTF-8 and never half a character. */
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

/** What the sort keys of all parts of an upload begin with. */
export const partsPrefix = 'p/';

/** What the sort keys of all uploads of a part number begin with. */
export const partPrefix = (number: number): string => `${partsPrefix}${String(number).padStart(5, '0')}/`;

/** Reads back what keys were built from. */
export const uploadKeyParts = {
  /** The id of the upload that a state or a part belongs to; undefined for any other item. */
  upload: ({ pk }: ItemKey): string | undefined =>
    pk.startsWith(kinds.upload) ? pk.slice(kinds.upload.length) : undefined,
  /** The number and the id of a part; undefined for any other item. */
  part: ({ pk, sk }: ItemKey): { readonly number: number; readonly id: string } | undefined => {
    if (!pk.startsWith(kinds.upload) || !sk.startsWith(partsPrefix)) return undefined;
    const [, number, id] = sk.split('/') as [string, string, string];
    return { number: Number(number), id };
  },
  /** The bucket whose list of open uploads an item is in. */
  openUpload: ({ pk }: ItemKey): string => pk.slice(kinds.openUploads.length),
} as const;
