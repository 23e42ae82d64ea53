import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { onFolderKey, objectMenu, uploadDropped } from './object-actions.tsx';
import { useChanges } from './changes.ts';
import { DeletedModel, isDeleted } from './deleted-model.ts';
import { Details } from './details/details.tsx';
import { dragged, droppedOn, hasFiles } from './drag.ts';
import { placeOf } from './folder-places.ts';
import { ListingModel } from './listing-model.ts';
import { SearchModel } from './search-model.ts';
import { ObjectGrid, type GridActions } from './object-grid.tsx';
import { shownName } from './names.ts';
import { PathBar } from './path-bar.tsx';
import { Selection } from './selection.ts';
import { ToolBar } from './tool-bar.tsx';
import { visibleName } from '../../format/names.ts';
import { awsCommand } from '../../format/commands.ts';
import { number, t } from '../../messages/messages.ts';
import { isFailure } from '../../s3/failure.ts';
import type { Entry } from '../../s3/listing.ts';
import { go } from '../../session/router.ts';
import { config, session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CommandLine } from '../../ui/command-line.tsx';
import { Empty, ErrorBox } from '../../ui/notices.tsx';

interface Props {
  readonly bucket: string;
  readonly prefix: string;
  readonly selected?: string;
  readonly tab?: string;
  readonly deleted?: boolean;
}

/** Returns the actions of a folder's list on its entries. */
function actionsOf(bucket: string, prefix: string, selection: Selection): GridActions {
  const open = (entry: Entry): void => {
    if (entry.kind === 'folder') go({ page: 'objects', bucket, prefix: entry.key });
    else if (isDeleted(entry))
      go({ page: 'objects', bucket, prefix, selected: entry.key, tab: 'versions', deleted: true });
    else go({ page: 'objects', bucket, prefix, selected: entry.key });
  };
  return {
    onOpen: open,
    onMenu: (entry, at) => objectMenu(bucket, prefix, entry, selection.now(), at, open),
    onKey: (event) => onFolderKey(event, { bucket, prefix, chosen: selection.now() }),
    onDragStart: (event, entry) => dragged(event, bucket, selection.has(entry.key) ? selection.now() : [entry]),
    onDrop: (event, folder) => void droppedOn(event, bucket, folder),
  };
}

/** The objects page: a folder of a bucket, or the results of a search. */
export function ObjectsPage({ bucket, prefix, selected, tab, deleted }: Props) {
  const { client } = session.value!;
  const [filter, setFilter] = useState('');
  const [search, setSearch] = useState<SearchModel>();
  const [reads, setReads] = useState(0);
  const [isOver, setIsOver] = useState(false);
  const folder = placeOf(client, bucket, prefix);
  const listing = useMemo(
    () => new ListingModel(client, bucket, prefix, filter, folder.sort),
    [client, bucket, prefix, filter, reads],
  );
  const removed = useMemo(
    () => (deleted === true ? new DeletedModel(client, bucket, prefix) : undefined),
    [client, bucket, prefix, deleted, reads],
  );
  const found: SearchModel | DeletedModel | undefined = search ?? removed;
  const selection = useMemo(() => new Selection(), [bucket, prefix, found]);
  const isLoading = listing.isLoading.value;
  const error = found === undefined ? listing.error.value : found.error.value;
  const place = { bucket, prefix };
  const here = { page: 'objects', ...place, ...(deleted === true && { deleted }) } as const;
  const latest = useRef(place);
  latest.current = place;

  useEffect(() => () => listing.close(), [listing]);
  useEffect(() => listing.sort.subscribe((sort) => void (folder.sort = sort)), [listing]);
  useEffect(() => () => search?.stop(), [search]);
  useEffect(() => () => removed?.stop(), [removed]);
  useEffect(() => {
    setFilter('');
    setSearch(undefined);
  }, [bucket, prefix, deleted]);
  // The list is read again after a transfer changed the bucket.
  useChanges(bucket, () => setReads((before) => before + 1));
  // Entries that no longer exist are deselected.
  useEffect(() => {
    if (reads > 0 && found === undefined && !isLoading && error === undefined) selection.retain(listing.mayHave());
  }, [listing, isLoading]);
  useEffect(() => {
    const paste = (event: ClipboardEvent): void => {
      if (event.target instanceof Element && event.target.closest('input, textarea')) return;
      if (event.clipboardData === null || event.clipboardData.files.length === 0) return;
      event.preventDefault();
      void uploadDropped(bucket, latest.current.prefix, event.clipboardData);
    };
    addEventListener('paste', paste);
    return () => removeEventListener('paste', paste);
  }, [bucket]);

  const actions = useMemo(() => actionsOf(bucket, prefix, selection), [bucket, prefix, selection]);
  const isEmpty = listing.isComplete.value && listing.count.value === 0;
  const where = prefix === '' ? bucket : shownName(prefix);
  return (
    <>
      <div
        class="browser"
        onDragOver={(event) => {
          if (!hasFiles(event.dataTransfer)) return;
          event.preventDefault();
          setIsOver(true);
        }}
        onDragLeave={(event) => {
          if (!(event.relatedTarget instanceof Node) || !event.currentTarget.contains(event.relatedTarget))
            setIsOver(false);
        }}
        onDrop={(event) => {
          setIsOver(false);
          if (!hasFiles(event.dataTransfer) || event.defaultPrevented) return;
          event.preventDefault();
          void uploadDropped(bucket, prefix, event.dataTransfer!);
        }}
      >
        <PathBar
          bucket={bucket}
          prefix={prefix}
          onDrop={(event, target) => void droppedOn(event, bucket, target)}
          onSearch={(text) => setSearch(text === '' ? undefined : new SearchModel(client, bucket, text))}
          search={search}
        />
        <ToolBar
          bucket={bucket}
          prefix={prefix}
          selection={selection}
          filter={filter}
          onFilter={setFilter}
          onRefresh={() => setReads(reads + 1)}
        />
        {error !== undefined ? (
          <div class="page">
            {isFailure(error, 'AccessDenied') ? (
              <Empty title={t.value.objects.noRight}>
                <p>{t.value.objects.noRightMeaning}</p>
                <ErrorBox error={error} />
              </Empty>
            ) : (
              <ErrorBox error={error} retry={() => setReads(reads + 1)} />
            )}
          </div>
        ) : isEmpty && found === undefined ? (
          <EmptyFolder bucket={bucket} prefix={prefix} filter={filter} />
        ) : found?.isComplete.value === true && found.hits.value.length === 0 ? (
          <Empty title={found.kind === 'search' ? t.value.objects.noHit : t.value.objects.noneDeleted} />
        ) : (
          <ObjectGrid
            key={`${found?.kind ?? ''} ${search?.text ?? ''} ${prefix}`}
            bucket={bucket}
            listing={listing}
            place={folder}
            found={found}
            selection={selection}
            actions={actions}
          />
        )}
        {error === undefined && (
          <StatusBar
            listing={listing}
            found={found}
            text={search?.text ?? ''}
            onDeleted={() => go({ page: 'objects', ...place, deleted: true })}
            onEnd={() => (search === undefined ? go({ page: 'objects', ...place }) : setSearch(undefined))}
          />
        )}
        {isOver && <div class="drop-veil">{t.value.objects.dropHere(where)}</div>}
      </div>
      {selected !== undefined && (
        <Details
          key={`${bucket}/${selected}`}
          bucket={bucket}
          objectKey={selected}
          tab={tab}
          onTab={(next) => go({ ...here, selected, tab: next }, { replace: true })}
          onClose={() => go(here)}
        />
      )}
    </>
  );
}

function EmptyFolder({
  bucket,
  prefix,
  filter,
}: {
  readonly bucket: string;
  readonly prefix: string;
  readonly filter: string;
}) {
  const texts = t.value.objects;
  if (filter !== '') return <Empty title={texts.noMatch} />;
  return (
    <Empty title={texts.emptyFolder} isDropTarget>
      <p>{texts.emptyMeaning}</p>
      <CommandLine command={awsCommand(config.value!, 's3', 'sync', '.', `s3://${bucket}/${prefix}`)} />
    </Empty>
  );
}

function StatusBar({
  listing,
  found,
  text,
  onDeleted,
  onEnd,
}: {
  readonly listing: ListingModel;
  readonly found: SearchModel | DeletedModel | undefined;
  /** What was searched. */
  readonly text: string;
  readonly onDeleted: () => void;
  readonly onEnd: () => void;
}) {
  const texts = t.value.objects;
  const items = (count: number): string => t.value.common.items(count, number(count));
  if (found !== undefined) {
    const isSearch = found.kind === 'search';
    const looked = found.looked.value;
    return (
      <div class="status-bar" role="status">
        <span>{isSearch ? texts.searchResults(visibleName(text)) : texts.deletedObjects}</span>
        <span>{items(found.hits.value.length)}</span>
        <span class="grow">
          {texts.searching((isSearch ? t.value.common.objects : texts.versionsCounted)(looked, number(looked)))}
        </span>
        {!found.isComplete.value && <Button onClick={() => found.stop()}>{texts.stopSearch}</Button>}
        <Button onClick={onEnd}>{isSearch ? texts.endSearch : texts.endDeleted}</Button>
      </div>
    );
  }
  const isWhole = listing.isComplete.value;
  return (
    <div class="status-bar" role="status">
      <span>{texts.counted(items(listing.count.value), !isWhole)}</span>
      <span class="grow">{isWhole ? '' : texts.shownOrder}</span>
      <Button kind="quiet" onClick={onDeleted}>
        {texts.deletedObjects}
      </Button>
    </div>
  );
}
