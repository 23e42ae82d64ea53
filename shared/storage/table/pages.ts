import type { Item, KeyValueTable, QueryOptions } from '../../ports/key-value-table.ts';

/**
 * Yields pages, each of which is read when it is asked for.
 * @param read reads the page after a place; `next` is where the one after it begins, undefined: there is none
 */
export async function* pages<Page extends { readonly next?: string | undefined }>(
  read: (after: string | undefined) => Promise<Page>,
): AsyncGenerator<Page> {
  let after: string | undefined;
  do {
    const page = await read(after);
    yield page;
    after = page.next;
  } while (after !== undefined);
}

/** Yields the items of a partition, or those that the options select, page by page. */
export async function* partitionPages(
  table: KeyValueTable,
  pk: string,
  options: Omit<QueryOptions, 'after'> = {},
): AsyncGenerator<readonly Item[]> {
  for (let after: string | undefined, more = true; more;) {
    const page = await table.query(pk, { ...options, ...(after !== undefined && { after }) });
    yield page.items;
    after = page.items.at(-1)?.key.sk ?? after;
    ({ more } = page);
  }
}

/** Yields all items of a partition, or those that the options select. */
export async function* partitionItems(
  table: KeyValueTable,
  pk: string,
  options: Omit<QueryOptions, 'after'> = {},
): AsyncGenerator<Item> {
  for await (const items of partitionPages(table, pk, options)) yield* items;
}
