import type { ComponentChildren, JSX } from 'preact';
import { texts } from '../messages/operators.ts';
import { Button } from '../ui/button.tsx';
import { ErrorBox } from '../ui/notices.tsx';
import type { Paged } from '../ui/pages.ts';

/** The heading of a column, and whether a phone has no room for it. */
export interface Column {
  readonly title: string;
  readonly class?: string;
}

/** A list in pages as a table, with a button for the next page. */
export function PagedTable<Page, Item>({
  list,
  items: itemsOf,
  caption,
  columns,
  empty,
  row,
}: {
  readonly list: Paged<Page>;
  readonly items: (page: Page) => readonly Item[];
  readonly caption: string;
  readonly columns: readonly Column[];
  /** In place of a list without entries. */
  readonly empty: ComponentChildren;
  readonly row: (item: Item) => JSX.Element;
}) {
  const items = list.pages.flatMap(itemsOf);
  if (list.error !== undefined) return <ErrorBox error={list.error} retry={list.reload} />;
  if (!list.isLoaded) return <div class="skeleton" />;
  return (
    <>
      {items.length === 0 ? (
        empty
      ) : (
        <table class="records" aria-label={caption}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.title} class={column.class}>
                  {column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{items.map(row)}</tbody>
        </table>
      )}
      {(list.more !== undefined || list.isBusy) && (
        <div class="row page-more">
          <Button disabled={list.more === undefined} onClick={() => list.more?.()}>
            {texts.value.more}
          </Button>
        </div>
      )}
    </>
  );
}
