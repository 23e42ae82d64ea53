import type { ItemVisitor, Position } from '../../ports/item-view.ts';
import type { Item, KeyValueTable, QueryOptions, QueryPage, VisitRange } from '../../ports/key-value-table.ts';
import { AttributesView } from '../table/attributes-view.ts';
import { currentVersionPartitions } from '../table/keys/keys.ts';
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

/**
 * Shows a bucket's current versions in key order: in place, if the table can, otherwise as a page of a query returned
 * them.
 * @param range.limit the maximum size of that page
 * @returns what {@link KeyValueTable.visit} does
 */
export async function visitShards(
  table: KeyValueTable,
  bucketId: string,
  { limit, ...range }: VisitRange & { readonly limit: number },
  visitor: ItemVisitor,
): Promise<Position | undefined> {
  const [shard, ...others] = currentVersionPartitions(bucketId);
  if (others.length === 0) return visitPartition(table, shard!, { ...range, limit }, visitor);
  return visitPage(await scanShards(table, bucketId, { ...range, limit, ...read(visitor) }), visitor);
}

/** Shows the items of one partition, as {@link visitShards} does. */
export async function visitPartition(
  table: KeyValueTable,
  pk: string,
  { limit, ...range }: VisitRange & { readonly limit: number },
  visitor: ItemVisitor,
): Promise<Position | undefined> {
  if (table.visit !== undefined) return table.visit(pk, range, visitor);
  return visitPage(await table.query(pk, { ...range, limit, ...read(visitor) }), visitor);
}

function read({ columns }: ItemVisitor): Pick<QueryOptions, 'attributes'> {
  return { attributes: new Set(columns) };
}

/** Shows the items of a page that a query returned. */
function visitPage({ items, more }: QueryPage, visitor: ItemVisitor): Position | undefined {
  const view = new AttributesView(visitor.columns);
  for (const item of items) if (visitor.visit(view.show(item)) === 'stop') return undefined;
  const last = items.at(-1);
  if (more && last === undefined) throw new Error('a query returned no items but reported more');
  return more ? { after: last!.key.sk } : undefined;
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
