import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { shownName } from './names.ts';
import type { Selection, ShownRows } from './selection.ts';
import { kindOf, visibleName } from '../../format/names.ts';
import { date, exactDate, size, t } from '../../messages/messages.ts';
import type { Entry } from '../../s3/listing.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';

/** True if the primary pointing device is a finger. */
export const isCoarse = matchMedia('(pointer: coarse)').matches;

/** The actions of a row on its entry. */
export interface RowActions {
  readonly onOpen: (entry: Entry) => void;
  readonly onMenu: (entry: Entry, at: { readonly x: number; readonly y: number }) => void;
  readonly onDragStart: (event: DragEvent, entry: Entry) => void;
  readonly onDrop: (event: DragEvent, folder: string) => void;
}

/** A row whose entry is being read. */
export function SkeletonRow({ index }: { readonly index: number }) {
  return (
    <div class="grid-row" role="row" aria-rowindex={index + 2}>
      <span role="gridcell" />
      <span role="gridcell">
        <div class="skeleton" />
      </span>
    </div>
  );
}

/**
 * An object or a folder. Besides its properties it reads only signals, and of the selection only whether it is selected: it is rendered
 * again only when one of these changes.
 */
export function ObjectRow({
  index,
  entry,
  rows,
  selection,
  isFound,
  actions,
}: {
  readonly index: number;
  readonly entry: Entry;
  readonly rows: ShownRows;
  readonly selection: Selection;
  /** True for a search result, which is shown with its whole key. */
  readonly isFound: boolean;
  readonly actions: RowActions;
}) {
  const isSelected = useMemo(
    () => computed(() => selection.has(entry.key, { row: index, order: rows.order })),
    [selection, rows, entry, index],
  ).value;
  const isCursor = useMemo(() => computed(() => selection.cursor.value === index), [selection, index]).value;
  const isFolder = entry.kind === 'folder';
  const name = isFound ? visibleName(entry.key) : shownName(entry.key);
  const classes = ['grid-row item', isFolder ? 'folder' : '', isCursor ? 'cursor' : ''];
  const select = (event: MouseEvent): void => {
    if (event.shiftKey) selection.extend(index, rows);
    else if (event.ctrlKey || event.metaKey) selection.toggle(index, rows);
    else selection.only(index, rows);
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
          actions.onOpen(entry);
      }}
      onDblClick={() => actions.onOpen(entry)}
      onContextMenu={(event) => {
        event.preventDefault();
        if (!isSelected) selection.only(index, rows);
        actions.onMenu(entry, { x: event.clientX, y: event.clientY });
      }}
      onDragStart={(event) => actions.onDragStart(event, entry)}
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
        actions.onDrop(event, entry.key);
      }}
    >
      <span role="gridcell" onClick={(event) => event.stopPropagation()}>
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={name}
          checked={isSelected}
          onChange={() => selection.toggle(index, rows)}
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
        <Button
          class="more"
          icon="more"
          label={t.value.objects.actionsFor(name)}
          tabIndex={-1}
          onClick={(event) => {
            event.stopPropagation();
            if (!isSelected) selection.only(index, rows);
            const { right, bottom } = event.currentTarget.getBoundingClientRect();
            actions.onMenu(entry, { x: right - 200, y: bottom });
          }}
        />
      </span>
    </div>
  );
}
