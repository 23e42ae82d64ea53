import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { onFolderKey, objectMenu, uploadItems } from './object-actions.tsx';
import { useChanges } from './changes.ts';
import { Details } from './details/details.tsx';
import { dragged, droppedOn, hasFiles } from './drag.ts';
import { ListingModel, SearchModel } from './listing-model.ts';
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
import { droppedFiles } from '../../transfers/files.ts';
import { CommandLine } from '../../ui/command-line.tsx';
import { Empty, ErrorBox } from '../../ui/notices.tsx';

interface Props {
  readonly bucket: string;
  readonly prefix: string;
  readonly selected?: string;
  readonly tab?: string;
}

/** Returns the actions of a folder's list on its entries. */
function actionsOf(bucket: string, prefix: string, selection: Selection): GridActions {
  const open = (entry: Entry): void => {
    if (entry.kind === 'folder') go({ page: 'objects', bucket, prefix: entry.key });
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
export function ObjectsPage({ bucket, prefix, selected, tab }: Props) {
  const { client } = session.value!;
  const [filter, setFilter] = useState('');
  const [search, setSearch] = useState<SearchModel>();
  const [reads, setReads] = useState(0);
  const [isOver, setIsOver] = useState(false);
  const listing = useMemo(
    () => new ListingModel(client, bucket, prefix, filter),
    [client, bucket, prefix, filter, reads],
  );
  const selection = useMemo(() => new Selection(), [bucket, prefix, search]);
  const isLoading = listing.isLoading.value;
  const error = search === undefined ? listing.error.value : search.error.value;
  const place = { bucket, prefix };
  const latest = useRef(place);
  latest.current = place;

  useEffect(() => () => listing.close(), [listing]);
  useEffect(() => () => search?.stop(), [search]);
  useEffect(() => {
    setFilter('');
    setSearch(undefined);
  }, [bucket, prefix]);
  // The list is read again after a transfer changed the bucket.
  useChanges(bucket, () => setReads((before) => before + 1));
  // Entries that no longer exist are deselected.
  useEffect(() => {
    if (reads > 0 && search === undefined && !isLoading && error === undefined) selection.retain(listing.mayHave());
  }, [listing, isLoading]);
  useEffect(() => {
    const paste = (event: ClipboardEvent): void => {
      if (event.target instanceof Element && event.target.closest('input, textarea')) return;
      if (event.clipboardData === null || event.clipboardData.files.length === 0) return;
      event.preventDefault();
      void droppedFiles(event.clipboardData, latest.current.prefix).then((items) => uploadItems(bucket, items));
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
          void droppedFiles(event.dataTransfer!, prefix).then((items) => uploadItems(bucket, items));
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
        ) : isEmpty && search === undefined ? (
          <EmptyFolder bucket={bucket} prefix={prefix} filter={filter} />
        ) : search?.isComplete.value === true && search.hits.value.length === 0 ? (
          <Empty title={t.value.objects.noHit} />
        ) : (
          <ObjectGrid
            key={search?.text ?? ''}
            bucket={bucket}
            listing={listing}
            search={search}
            selection={selection}
            actions={actions}
          />
        )}
        {error === undefined && (
          <StatusBar listing={listing} search={search} onEndSearch={() => setSearch(undefined)} />
        )}
        {isOver && <div class="drop-veil">{t.value.objects.dropHere(where)}</div>}
      </div>
      {selected !== undefined && (
        <Details
          key={`${bucket}/${selected}`}
          bucket={bucket}
          objectKey={selected}
          tab={tab}
          onTab={(next) => go({ page: 'objects', bucket, prefix, selected, tab: next }, { replace: true })}
          onClose={() => go({ page: 'objects', bucket, prefix })}
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
  search,
  onEndSearch,
}: {
  readonly listing: ListingModel;
  readonly search: SearchModel | undefined;
  readonly onEndSearch: () => void;
}) {
  const texts = t.value.objects;
  const items = (count: number): string => t.value.common.items(count, number(count));
  if (search !== undefined) {
    return (
      <div class="status-bar" role="status">
        <span>{texts.searchResults(visibleName(search.text))}</span>
        <span>{items(search.hits.value.length)}</span>
        <span class="grow">
          {texts.searching(t.value.common.objects(search.looked.value, number(search.looked.value)))}
        </span>
        {!search.isComplete.value && (
          <button type="button" onClick={() => search.stop()}>
            {texts.stopSearch}
          </button>
        )}
        <button type="button" onClick={onEndSearch}>
          {texts.endSearch}
        </button>
      </div>
    );
  }
  const isWhole = listing.isComplete.value;
  return (
    <div class="status-bar" role="status">
      <span>{texts.counted(items(listing.count.value), !isWhole)}</span>
      {!isWhole && <span>{texts.shownOrder}</span>}
    </div>
  );
}
