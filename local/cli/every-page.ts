import type { AdministrationCommand, Ask } from '../../functions/admin/command.ts';
import { pages } from '../../shared/storage/table/pages.ts';

/** Returns all entries of a list in pages. @param entriesOf returns those of a page */
export async function everyPage<Given extends object, Page extends { readonly next?: string | undefined }, Entry>(
  ask: Ask,
  list: AdministrationCommand<Given & { after?: string | undefined }, Page>,
  given: Given,
  entriesOf: (page: Page) => readonly Entry[],
): Promise<readonly Entry[]> {
  const all: Entry[] = [];
  for await (const page of pages((after) => ask(list, { ...given, after }))) all.push(...entriesOf(page));
  return all;
}
