import { computed } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { DeletedModel } from './deleted-model.ts';
import type { FolderPlace } from './folder-places.ts';
import type { ListingModel, SortKey } from './listing-model.ts';
import type { SearchModel } from './search-model.ts';
import { isCoarse, ObjectRow, SkeletonRow, type RowActions } from './object-row.tsx';
import type { Selection } from './selection.ts';
import { firstNamed } from './typed-name.ts';
import { t } from '../../messages/messages.ts';
import { Button } from '../../ui/button.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';

interface Props {
  readonly bucket: string;
  readonly listing: ListingModel;
  readonly place: FolderPlace;
  /** What is shown in place of the folder. */
  readonly found: SearchModel | DeletedModel | undefined;
  readonly selection: Selection;
  readonly actions: GridActions;
}

/** The actions of a list on its entries. The object changes only if an action does, as a new one renders all rows again. */
export interface GridActions extends RowActions {
  /** Called for keys that the list does not handle. */
  readonly onKey: (event: KeyboardEvent) => void;
}

const rowHeight = isCoarse ? 48 : 36;
const typingPause = 800;

/**
 * A list of objects that works like that of a file manager, with the mouse and the keyboard. Moving the cursor and selecting render only
 * the rows that change.
 */
export function ObjectGrid({ bucket, listing, place, found, selection, actions }: Props) {
  const grid = useRef<HTMLDivElement>(null);
  const typed = useRef({ text: '', at: 0, row: -1, order: {} });
  const rows = found ?? listing;
  const nowhere = useMemo(() => ({ top: 0 }), [found]);
  const count = found === undefined ? listing.count.value : found.hits.value.length;
  const active = useMemo(
    () => computed(() => (selection.cursor.value >= 0 ? `row-${selection.cursor.value}` : undefined)),
    [selection],
  );
  useEffect(() => {
    if (document.activeElement === document.body) grid.current?.focus();
  }, [listing]);

  useRememberedCursor(place, listing, found === undefined, selection);

  const moveTo = (index: number, extend: boolean): void => {
    const last = (found === undefined ? listing.count.peek() : found.hits.peek().length) - 1;
    const to = Math.max(0, Math.min(last, index));
    if (extend) selection.extend(to, rows);
    else selection.only(to, rows);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const box = grid.current;
    if (box === null || event.target !== box) return;
    const cursor = selection.cursor.peek();
    const page = Math.floor((box.clientHeight - 40) / rowHeight);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: cursor + 1,
      ArrowUp: cursor - 1,
      PageDown: cursor + page,
      PageUp: cursor - page,
      Home: 0,
    };
    const to = steps[event.key];
    const entry = rows.at(cursor);
    if (to !== undefined) moveTo(to, event.shiftKey);
    else if (event.key === 'End') void moveToEnd(event.shiftKey);
    else if (event.key === 'Enter' && entry) actions.onOpen(entry);
    else if (event.key === ' ' && entry) {
      if (event.ctrlKey) selection.toggle(cursor, rows);
      else actions.onOpen(entry);
    } else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) void selectAll();
    else if (event.key === 'Escape') selection.clear();
    else if ((event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) && entry) {
      const row = box.querySelector('.cursor')?.getBoundingClientRect();
      actions.onMenu(entry, { x: (row?.left ?? 0) + 40, y: row?.bottom ?? 0 });
    } else if (jump(event)) {
      // A name was typed.
    } else return actions.onKey(event);
    event.preventDefault();
  };

  /** Reads the rest first; who has moved on meanwhile stays there. */
  const moveToEnd = async (extend: boolean): Promise<void> => {
    const cursor = selection.cursor.peek();
    if (found === undefined) await (extend ? listing.loadAll() : listing.loadToEnd());
    if (selection.cursor.peek() === cursor) moveTo(Infinity, extend);
  };

  /** Typing moves to the first name with this beginning. After the first letter, letters that are shortcuts are typed, too. */
  const jump = (event: KeyboardEvent): boolean => {
    if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return false;
    const before = typed.current;
    const goesOn = event.timeStamp - before.at < typingPause && before.text !== '';
    if (!goesOn && /^[/?fungr ]$/.test(event.key)) return false;
    const text = (goesOn ? before.text : '') + event.key.toLowerCase();
    // No row before the first that begins with the shorter text begins with the longer one.
    const from = goesOn && before.order === rows.order ? before.row : 0;
    const row = firstNamed(rows.all(), text, from, found === undefined ? listing.prefix.length : undefined);
    typed.current = { text, at: event.timeStamp, row: row < 0 ? count : row, order: rows.order };
    if (row >= 0) selection.only(row, rows);
    return true;
  };

  const selectAll = async (): Promise<void> => {
    if (found === undefined) await listing.loadAll();
    selection.all(rows);
  };

  return (
    <div
      ref={grid}
      class="grid"
      role="grid"
      tabIndex={0}
      aria-label={t.value.objects.gridLabel(bucket)}
      aria-rowcount={count + 1}
      aria-colcount={5}
      aria-multiselectable
      aria-activedescendant={active}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup">
        <div class="grid-row grid-head" role="row" aria-rowindex={1}>
          <span role="columnheader">
            <SelectAll selection={selection} count={count} onAll={() => void selectAll()} />
          </span>
          <SortHeader listing={listing} by="name" disabled={found !== undefined} />
          <SortHeader listing={listing} by="size" disabled={found !== undefined} />
          <SortHeader listing={listing} by="modified" disabled={found !== undefined} />
          <span role="columnheader">
            <span class="visually-hidden">{t.value.common.more}</span>
          </span>
        </div>
      </div>
      <div role="rowgroup" class="grid-body">
        <VirtualList
          count={count}
          rowHeight={rowHeight}
          reveal={selection.cursor}
          place={found === undefined ? place : nowhere}
          onShown={(first, last) => found === undefined && listing.show(first, last)}
          row={(index) => {
            const entry = rows.at(index);
            if (entry === undefined) return <SkeletonRow index={index} />;
            const isFound = found !== undefined;
            return <ObjectRow {...{ index, entry, rows, selection, isFound, actions }} />;
          }}
        />
      </div>
    </div>
  );
}

/** Puts the cursor of a folder where it was, once that row is there, and remembers where it is. */
function useRememberedCursor(place: FolderPlace, listing: ListingModel, isShown: boolean, selection: Selection): void {
  const isRead = !listing.isLoading.value;
  useEffect(() => {
    if (!isRead || !isShown || place.cursor === undefined || selection.cursor.peek() >= 0) return;
    const row = listing.all().findIndex(({ key }) => key === place.cursor);
    if (row >= 0) selection.only(row, listing);
  }, [isRead, listing, isShown, selection]);
  useEffect(
    () =>
      selection.cursor.subscribe((row) => {
        if (isShown && row >= 0) place.cursor = listing.at(row)?.key;
      }),
    [listing, place, isShown, selection],
  );
}

function SelectAll({
  selection,
  count,
  onAll,
}: {
  readonly selection: Selection;
  readonly count: number;
  readonly onAll: () => void;
}) {
  const selected = selection.size.value;
  const everything = count > 0 && selected === count;
  return (
    <input
      type="checkbox"
      aria-label={t.value.objects.selectAll}
      checked={everything}
      indeterminate={selected > 0 && !everything}
      onChange={() => (everything ? selection.clear() : onAll())}
    />
  );
}

function SortHeader({
  listing,
  by,
  disabled,
}: {
  readonly listing: ListingModel;
  readonly by: SortKey;
  readonly disabled: boolean;
}) {
  const { by: sorted, down } = listing.sort.value;
  const isSorted = by === sorted && !disabled;
  const name = t.value.objects[by];
  return (
    <span
      role="columnheader"
      class={by === 'size' ? 'number' : by}
      aria-sort={isSorted ? (down ? 'descending' : 'ascending') : 'none'}
    >
      <Button
        kind="quiet"
        title={listing.isComplete.value ? undefined : t.value.objects.sortReads}
        disabled={disabled}
        onClick={() => listing.sortBy(by)}
      >
        {name}
        {isSorted && <span aria-hidden="true">{down ? '↓' : '↑'}</span>}
      </Button>
    </span>
  );
}
