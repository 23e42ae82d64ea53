import { useEffect, useRef } from 'preact/hooks';
import { shownName } from './names.ts';
import type { ListingModel, SearchModel, SortKey } from './listing-model.ts';
import type { Selection } from './selection.ts';
import { baseName, kindOf, visibleName } from '../../format/names.ts';
import { date, exactDate, size, t } from '../../messages/messages.ts';
import type { Entry } from '../../s3/listing.ts';
import { Icon } from '../../ui/icons.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';

interface Props {
  readonly bucket: string;
  readonly listing: ListingModel;
  readonly search: SearchModel | undefined;
  readonly selection: Selection;
  readonly onOpen: (entry: Entry) => void;
  readonly onMenu: (entry: Entry, at: { readonly x: number; readonly y: number }) => void;
  /** Keys that the list itself does not know. */
  readonly onKey: (event: KeyboardEvent) => void;
  readonly onDragStart: (event: DragEvent, entry: Entry) => void;
  readonly onDrop: (event: DragEvent, folder: string) => void;
}

const isCoarse = matchMedia('(pointer: coarse)').matches;
const rowHeight = isCoarse ? 48 : 36;
const typingPause = 800;

/** A list of objects that is worked like one of a file manager, with the mouse and with the keyboard. */
export function ObjectGrid(props: Props) {
  const { listing, search, selection } = props;
  const grid = useRef<HTMLDivElement>(null);
  const typed = useRef({ text: '', at: 0 });
  const count = search === undefined ? listing.count.value : search.hits.value.length;
  const at = (index: number): Entry | undefined =>
    search === undefined ? listing.at(index) : search.hits.value[index];
  const between = (from: number, to: number): readonly Entry[] =>
    search === undefined ? listing.between(from, to) : search.hits.value.slice(from, to + 1);
  const cursor = selection.cursor.value;
  useEffect(() => {
    if (document.activeElement === document.body) grid.current?.focus();
  }, [listing]);

  const moveTo = (index: number, extend: boolean): void => {
    const to = Math.max(0, Math.min(count - 1, index));
    if (extend) selection.extend(to, between);
    else selection.only(to, at(to));
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const box = grid.current;
    if (box === null || event.target !== box) return;
    const page = Math.floor((box.clientHeight - 40) / rowHeight);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: cursor + 1,
      ArrowUp: cursor - 1,
      PageDown: cursor + page,
      PageUp: cursor - page,
      Home: 0,
      End: count - 1,
    };
    const to = steps[event.key];
    const entry = at(cursor);
    if (to !== undefined) moveTo(to, event.shiftKey);
    else if (event.key === 'Enter' && entry) props.onOpen(entry);
    else if (event.key === ' ' && entry) {
      if (event.ctrlKey) selection.toggle(cursor, entry);
      else props.onOpen(entry);
    } else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) void selectAll();
    else if (event.key === 'Escape') selection.clear();
    else if ((event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) && entry) {
      const row = box.querySelector('.cursor')?.getBoundingClientRect();
      props.onMenu(entry, { x: (row?.left ?? 0) + 40, y: row?.bottom ?? 0 });
    } else if (jump(event)) {
      // A name was typed.
    } else return props.onKey(event);
    event.preventDefault();
  };

  /** Typing goes to the first name that begins so: after the first letter also those that are commands. */
  const jump = (event: KeyboardEvent): boolean => {
    if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return false;
    const goesOn = event.timeStamp - typed.current.at < typingPause && typed.current.text !== '';
    if (!goesOn && /^[/?fungr ]$/.test(event.key)) return false;
    const text = (goesOn ? typed.current.text : '') + event.key.toLowerCase();
    typed.current = { text, at: event.timeStamp };
    const all = search === undefined ? listing.all() : search.hits.value;
    // The names in a folder begin at the same place, and only their beginnings are looked at: there may be 100,000.
    const start = search === undefined ? listing.prefix.length : undefined;
    const found = all.findIndex(({ key }) => {
      const from = start ?? key.length - baseName(key).length;
      return key
        .slice(from, from + text.length)
        .toLowerCase()
        .startsWith(text);
    });
    if (found >= 0) selection.only(found, all[found]);
    return true;
  };

  const selectAll = async (): Promise<void> => {
    if (search === undefined) await listing.loadAll();
    selection.all(search === undefined ? listing.all() : search.hits.value);
  };

  const everything = count > 0 && selection.size.value === count;
  return (
    <div
      ref={grid}
      class="grid"
      role="grid"
      tabIndex={0}
      aria-label={t.value.objects.gridLabel(props.bucket)}
      aria-rowcount={count + 1}
      aria-colcount={5}
      aria-multiselectable
      aria-activedescendant={cursor >= 0 ? `row-${cursor}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup">
        <div class="grid-row grid-head" role="row" aria-rowindex={1}>
          <span role="columnheader">
            <input
              type="checkbox"
              aria-label={t.value.objects.selectAll}
              checked={everything}
              indeterminate={selection.size.value > 0 && !everything}
              onChange={() => (everything ? selection.clear() : void selectAll())}
            />
          </span>
          <SortHeader listing={listing} by="name" disabled={search !== undefined} />
          <SortHeader listing={listing} by="size" disabled={search !== undefined} />
          <SortHeader listing={listing} by="modified" disabled={search !== undefined} />
          <span role="columnheader">
            <span class="visually-hidden">{t.value.common.more}</span>
          </span>
        </div>
      </div>
      <div role="rowgroup" class="grid-body">
        <VirtualList
          count={count}
          rowHeight={rowHeight}
          reveal={cursor}
          onShown={(first, last) => search === undefined && listing.show(first, last)}
          row={(index) => <Row {...props} index={index} entry={at(index)} between={between} />}
        />
      </div>
    </div>
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
      <button
        type="button"
        class="quiet"
        disabled={disabled}
        title={listing.isComplete.value ? undefined : t.value.objects.sortReads}
        onClick={() => listing.sortBy(by)}
      >
        {name}
        {isSorted && <span aria-hidden="true">{down ? '↓' : '↑'}</span>}
      </button>
    </span>
  );
}

function Row(
  props: Props & {
    readonly index: number;
    readonly entry: Entry | undefined;
    readonly between: (from: number, to: number) => readonly Entry[];
  },
) {
  const { index, entry, selection, search } = props;
  if (entry === undefined) {
    return (
      <div class="grid-row" role="row" aria-rowindex={index + 2}>
        <span role="gridcell" />
        <span role="gridcell">
          <div class="skeleton" />
        </span>
      </div>
    );
  }
  const isSelected = selection.has(entry.key, index);
  const isFolder = entry.kind === 'folder';
  const name = search === undefined ? shownName(entry.key) : visibleName(entry.key);
  const classes = ['grid-row item', isFolder ? 'folder' : '', selection.cursor.value === index ? 'cursor' : ''];
  const select = (event: MouseEvent): void => {
    if (event.shiftKey) selection.extend(index, props.between);
    else if (event.ctrlKey || event.metaKey) selection.toggle(index, entry);
    else selection.only(index, entry);
  };
  return (
    <div
      class={classes.join(' ')}
      id={`row-${index}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      draggable={!isCoarse}
      onClick={(event) => {
        select(event);
        if (!event.shiftKey && !event.ctrlKey && !event.metaKey && (entry.kind === 'object' || isCoarse))
          props.onOpen(entry);
      }}
      onDblClick={() => props.onOpen(entry)}
      onContextMenu={(event) => {
        event.preventDefault();
        if (!isSelected) selection.only(index, entry);
        props.onMenu(entry, { x: event.clientX, y: event.clientY });
      }}
      onDragStart={(event) => props.onDragStart(event, entry)}
      onDragOver={(event) => {
        if (!isFolder) return;
        event.preventDefault();
        event.stopPropagation();
        event.currentTarget.classList.add('drop');
      }}
      onDragLeave={(event) => event.currentTarget.classList.remove('drop')}
      onDrop={(event) => {
        if (!isFolder) return;
        event.preventDefault();
        event.currentTarget.classList.remove('drop');
        props.onDrop(event, entry.key);
      }}
    >
      <span role="gridcell" onClick={(event) => event.stopPropagation()}>
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={name}
          checked={isSelected}
          onChange={() => selection.toggle(index, entry)}
        />
      </span>
      <span role="gridcell" class="name" title={name}>
        <Icon name={isFolder ? 'folder' : kindOf(entry.key)} />
        <span>{name}</span>
      </span>
      <span role="gridcell" class="number">
        {entry.kind === 'object' ? size(entry.size) : ''}
      </span>
      <span role="gridcell" class="modified" title={entry.kind === 'object' ? exactDate(entry.modified) : undefined}>
        {entry.kind === 'object' ? date(entry.modified) : ''}
      </span>
      <span role="gridcell">
        <button
          type="button"
          tabIndex={-1}
          class="quiet square more"
          aria-label={t.value.objects.actionsFor(name)}
          onClick={(event) => {
            event.stopPropagation();
            if (!isSelected) selection.only(index, entry);
            const { right, bottom } = event.currentTarget.getBoundingClientRect();
            props.onMenu(entry, { x: right - 200, y: bottom });
          }}
        >
          <Icon name="more" />
        </button>
      </span>
    </div>
  );
}
