import type { Item, KeyValueTable } from '../../ports/key-value-table.ts';
import { compareUtf8 } from '../../ports/utf8-order.ts';
import { cutKey, cutOf, indexStart, uploadIndexPartition } from '../table/keys/upload-keys.ts';
import type { Start } from '../utf8-order.ts';
import { decodeListed, type ListedUpload } from './upload.ts';

/** Returns the next open uploads of a bucket in key order: implements `Uploads.openFrom`. */
export async function openUploadsFrom(
  table: KeyValueTable,
  bucketId: string,
  { prefix, limit, from, after }: { readonly prefix: string; readonly limit: number } & Start,
): Promise<{ readonly uploads: readonly ListedUpload[]; readonly more: boolean }> {
  const found: Item[] = [];
  for (let start: Start = indexStart(from, after); ; start = { after: found.at(-1)!.key.sk }) {
    const page = await table.query(uploadIndexPartition(bucketId), {
      ...{ prefix: cutKey(prefix), limit: limit + 1 },
      ...start,
    });
    found.push(...page.items);
    const { more } = page;
    const unfinished = more ? cutOf(found.at(-1)!) : undefined;
    const uploads = found
      .filter((item) => cutOf(item) !== unfinished)
      .map(({ attributes }) => decodeListed(attributes))
      .filter(
        ({ key }) =>
          key.startsWith(prefix) &&
          (from === undefined || compareUtf8(key, from) >= 0) &&
          (after === undefined || compareUtf8(key, after) > 0),
      )
      .sort((a, b) => compareUtf8(a.key, b.key) || (a.id < b.id ? -1 : 1));
    if (uploads.length > 0 || !more) return { uploads, more };
  }
}

/** The open uploads to read. */
export interface OpenUploadsRange {
  readonly prefix: string;
  readonly after: string | undefined;
  /** Allows eventually consistent reads. */
  readonly mayBeStale?: boolean;
}

/** Returns a page of the open uploads of a bucket in the order of the index: implements `Uploads.openPage`. */
export async function openUploadsPage(
  table: KeyValueTable,
  bucketId: string,
  { prefix, after, limit, mayBeStale = false }: OpenUploadsRange & { readonly limit?: number },
): Promise<{ readonly uploads: readonly ListedUpload[]; readonly next: string | undefined }> {
  const { items, more } = await table.query(uploadIndexPartition(bucketId), {
    ...(prefix !== '' && { prefix: cutKey(prefix) }),
    ...(limit !== undefined && { limit }),
    ...(after !== undefined && { after }),
    mayBeStale,
  });
  const uploads = items.map(({ attributes }) => decodeListed(attributes));
  return {
    uploads: uploads.filter(({ key }) => key.startsWith(prefix)),
    next: more ? items.at(-1)?.key.sk : undefined,
  };
}
