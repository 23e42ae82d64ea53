import type { Item, KeyValueTable, QueryOptions } from '../../ports/key-value-table.ts';

/** Yields all items of a partition, or those that the options select. */
export async function* partitionItems(
  table: KeyValueTable,
  pk: string,
  options: Omit<QueryOptions, 'after' | 'limit'> = {},
): AsyncGenerator<Item> {
  for (let after: string | undefined, more = true; more;) {
    const page = await table.query(pk, { ...options, ...(after !== undefined && { after }) });
    yield* page.items;
    after = page.items.at(-1)?.key.sk ?? after;
    ({ more } = page);
  }
}
