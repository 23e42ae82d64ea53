import type { Item, KeyValueTable, QueryOptions, QueryPage } from '../../ports/key-value-table.ts';
import { currentVersionPartitions } from '../table/shards.ts';
import { compareUtf8 } from '../../ports/utf8-order.ts';

/** Returns a page of a bucket's current versions in key order. Merges the shards, which all resume after the same key. */
export async function scanShards(
  table: KeyValueTable,
  bucketId: string,
  range: Omit<QueryOptions, 'reverse'>,
): Promise<QueryPage> {
  const [first, ...others] = await Promise.all(
    currentVersionPartitions(bucketId).map((shard) => table.query(shard, range)),
  );
  return others.length === 0 ? first! : merge([first!, ...others], range.limit);
}

/** Merges pages, up to the last key of any page that is incomplete: the shard of that page may have the next key. */
function merge(pages: readonly QueryPage[], limit: number | undefined): QueryPage {
  const ends = pages.flatMap(({ items, more }) => (more ? [items.at(-1)?.key.sk ?? ''] : []));
  const end = ends.length === 0 ? undefined : ends.reduce((a, b) => (compareUtf8(a, b) < 0 ? a : b));
  const merged: Item[] = pages
    .flatMap(({ items }) => items)
    .filter(({ key }) => end === undefined || compareUtf8(key.sk, end) <= 0)
    .sort((a, b) => compareUtf8(a.key.sk, b.key.sk));
  const items = limit === undefined ? merged : merged.slice(0, limit);
  return { items, more: end !== undefined || items.length < merged.length };
}
