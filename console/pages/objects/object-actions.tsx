import { areDeleted, isDeleted } from './deleted-model.ts';
import { askFolderLinks } from './folder-links.tsx';
import { namesOf } from './names.ts';
import {
  DeleteDialog,
  DestinationDialog,
  NewFolderDialog,
  PublicAccessDialog,
  RenameDialog,
} from './object-dialogs.tsx';
import { baseName, folderOf, visibleName } from '../../format/names.ts';
import { number, t } from '../../messages/messages.ts';
import { askConflict } from '../../panels/ask-conflict.tsx';
import { getVersioning } from '../../s3/buckets.ts';
import type { S3Client } from '../../s3/client.ts';
import type { Entry } from '../../s3/listing.ts';
import { createFolder } from '../../s3/objects.ts';
import { go, route } from '../../session/router.ts';
import { session } from '../../session/session.ts';
import { startDelete, startMove, startPublicAccess, startUndelete } from '../../transfers/actions.ts';
import { droppedFiles } from '../../transfers/files.ts';
import { downloadObject, startArchive } from '../../transfers/download.ts';
import type { Job } from '../../transfers/job.ts';
import { noteChange } from '../../transfers/queue.ts';
import { startUpload, type UploadItem } from '../../transfers/upload.ts';
import { ask } from '../../ui/dialog.tsx';
import { openMenu, type MenuItem } from '../../ui/menu.tsx';
import { attempt, notify } from '../../ui/notices.tsx';

const client = (): S3Client => session.peek()!.client;

/** Opens the browser's file dialog. */
export function chooseUpload(what: 'files' | 'folder'): void {
  document.getElementById(`upload-${what}`)?.click();
}

/** Uploads files to their keys. */
export function uploadItems(bucket: string, items: readonly UploadItem[]): void {
  if (items.length === 0) return;
  const title =
    items.length === 1 ? visibleName(items[0]!.key) : t.value.common.items(items.length, number(items.length));
  startUpload(client(), bucket, items, { title, ask: askConflict });
}

/** Uploads files that were dropped or pasted, and reports those that cannot be read. */
export async function uploadDropped(bucket: string, prefix: string, data: DataTransfer): Promise<void> {
  const { items, unreadable } = await droppedFiles(data, prefix);
  uploadItems(bucket, items);
  const [first] = unreadable;
  if (first === undefined) return;
  const more = unreadable.length - 1;
  const names = more === 0 ? visibleName(first) : `${visibleName(first)} ${t.value.common.andMore(number(more))}`;
  notify('', { error: new Error(t.value.objects.unreadable(names)) });
}

/** Downloads an object as it is, and anything else as an archive. */
export async function download(bucket: string, prefix: string, entries: readonly Entry[]): Promise<void> {
  const [only] = entries;
  if (entries.length === 1 && only?.kind === 'object') {
    await attempt(() => downloadObject(client(), bucket, only.key));
    return;
  }
  const name = entries.length === 1 && only !== undefined ? baseName(only.key) : baseName(prefix) || bucket;
  // Paths in the archive are relative to the folder of the chosen entries.
  startArchive(client(), bucket, entries, {
    name,
    prefix: entries.every(({ key }) => key.startsWith(prefix)) ? prefix : '',
  });
}

/** Asks for a name and creates a folder. */
export async function askFolder(bucket: string, prefix: string): Promise<void> {
  const name = await ask<string>((answer) => <NewFolderDialog bucket={bucket} prefix={prefix} onDone={answer} />);
  if (name === undefined) return;
  await attempt(async () => {
    await createFolder(client(), bucket, `${prefix}${name}/`);
    noteChange(bucket);
  });
}

/** Asks for a new name. A folder is renamed object by object. */
async function askRename(bucket: string, entry: Entry): Promise<void> {
  const before = baseName(entry.key);
  const name = await ask<string>((answer) => <RenameDialog bucket={bucket} entry={entry} onDone={answer} />);
  if (name === undefined || name === before) return;
  renameTo(bucket, entry, folderOf(entry.key) + name + (entry.kind === 'folder' ? '/' : ''));
}

/** Renames an object, or all objects in a folder. @param to the whole new key; for a folder with its slash */
export function renameTo(bucket: string, entry: Entry, to: string): void {
  const rename = (key: string): string => to + key.slice(entry.key.length);
  const job = startMove(
    client(),
    'rename',
    { bucket, entries: [entry] },
    { bucket, rename },
    { title: namesOf([entry]), ask: askConflict },
  );
  // The details that are open are those of the same object.
  whenEnded(job, () => {
    const present = route.peek();
    if (job.state.value !== 'done' || present.page !== 'objects' || present.bucket !== bucket) return;
    const { selected = '' } = present;
    const isMeant = entry.kind === 'folder' ? selected.startsWith(entry.key) : selected === entry.key;
    if (isMeant) go({ ...present, selected: rename(selected) }, { replace: true });
  });
}

/** Asks for a destination, and copies or moves entries. */
export async function askDestination(
  kind: 'copy' | 'move',
  bucket: string,
  prefix: string,
  entries: readonly Entry[],
): Promise<void> {
  const to = await ask<{ readonly bucket: string; readonly prefix: string }>((answer) => (
    <DestinationDialog kind={kind} bucket={bucket} prefix={prefix} entries={entries} onDone={answer} />
  ));
  if (to !== undefined) moveInto(kind, bucket, entries, to);
}

/** Copies or moves into a folder. */
export function moveInto(
  kind: 'copy' | 'move',
  bucket: string,
  entries: readonly Entry[],
  to: { readonly bucket: string; readonly prefix: string },
): void {
  const roots = [...entries].sort((a, b) => b.key.length - a.key.length);
  const rename = (key: string): string => {
    const root = roots.find((entry) => (entry.kind === 'folder' ? key.startsWith(entry.key) : key === entry.key));
    return to.prefix + key.slice(root === undefined ? 0 : folderOf(root.key).length);
  };
  const title = namesOf(entries);
  const options = { title, ask: askConflict };
  const job = startMove(client(), kind, { bucket, entries }, { bucket: to.bucket, rename }, options);
  whenEnded(job, () => noteChange(bucket));
}

/** Deletes entries. If the bucket keeps versions, this can be undone, so it does not ask for confirmation. */
export async function askDelete(bucket: string, entries: readonly Entry[]): Promise<void> {
  const versioning = await getVersioning(client(), bucket).catch(() => 'Off' as const);
  const isUndoable = versioning === 'Enabled';
  if (!isUndoable || entries.some(({ kind }) => kind === 'folder')) {
    const sure = await ask<true>((answer) => (
      <DeleteDialog bucket={bucket} entries={entries} isUndoable={isUndoable} onDone={() => answer(true)} />
    ));
    if (sure === undefined) return;
  }
  const title = namesOf(entries);
  const job = startDelete(client(), bucket, entries, { title });
  whenEnded(job, () => {
    const undo = job.undo.value;
    if (job.state.value !== 'done') return;
    notify(
      t.value.objects.deleted(title),
      undo === undefined ? {} : { action: { label: t.value.common.undo, act: undo } },
    );
  });
}

/** Restores deleted objects. */
export function undelete(bucket: string, entries: readonly Entry[]): void {
  const markers = entries.flatMap((entry) =>
    entry.kind === 'object' ? (entry.markers ?? []).map((versionId) => ({ key: entry.key, versionId })) : [],
  );
  startUndelete(client(), bucket, markers, namesOf(entries));
}

/** Grants or revokes public access; for folders, to all objects in them. */
export async function askPublicAccess(bucket: string, entries: readonly Entry[], open: boolean): Promise<void> {
  const sure = await ask<true>((answer) => (
    <PublicAccessDialog bucket={bucket} entries={entries} open={open} onDone={() => answer(true)} />
  ));
  if (sure !== undefined) startPublicAccess(client(), bucket, entries, open, { title: namesOf(entries) });
}

function whenEnded<T>(job: Job<T>, act: () => void): void {
  const stop = job.isActive.subscribe((isActive) => {
    if (isActive) return;
    queueMicrotask(() => {
      stop();
      act();
    });
  });
}

/** Opens the menu of an object or folder, or of all selected entries. */
export function objectMenu(
  bucket: string,
  prefix: string,
  entry: Entry,
  selected: readonly Entry[],
  at: { readonly x: number; readonly y: number },
  open: (entry: Entry) => void,
): void {
  const texts = t.value.objects;
  const entries = selected.some(({ key }) => key === entry.key) ? selected : [entry];
  const isOne = entries.length === 1;
  if (isDeleted(entry)) {
    const versions = {
      label: t.value.details.versions,
      icon: 'file',
      shortcut: 'Enter',
      act: () => open(entry),
    } as const;
    const back = { label: t.value.details.undelete, icon: 'history', act: () => undelete(bucket, entries) } as const;
    return openMenu([isOne ? [versions, back] : [back]], texts.actionsFor(namesOf(entries)), at);
  }
  const isObject = isOne && entry.kind === 'object';
  const first: MenuItem[] = isOne
    ? [
        {
          label: isObject ? texts.preview : texts.open,
          icon: isObject ? 'file' : 'folder',
          shortcut: 'Enter',
          act: () => open(entry),
        },
      ]
    : [];
  const label = isObject ? texts.download : texts.downloadZip;
  first.push({ label, icon: 'download', act: () => void download(bucket, prefix, entries) });
  const change: MenuItem[] = [
    { label: texts.copyTo, icon: 'copy', act: () => void askDestination('copy', bucket, prefix, entries) },
    { label: texts.moveTo, icon: 'folder', act: () => void askDestination('move', bucket, prefix, entries) },
    ...(isOne
      ? [{ label: texts.rename, icon: 'rename', shortcut: 'r', act: () => void askRename(bucket, entry) } as const]
      : []),
  ];
  const access: MenuItem[] = [
    ...(isObject
      ? [
          {
            label: texts.share,
            icon: 'link',
            act: () => go({ page: 'objects', bucket, prefix, selected: entry.key, tab: 'links' }),
          } as const,
        ]
      : [{ label: texts.shareAll, icon: 'link', act: () => void askFolderLinks(bucket, entries) } as const]),
    { label: texts.openAccess, icon: 'globe', act: () => void askPublicAccess(bucket, entries, true) },
    { label: texts.closeAccess, icon: 'lock', act: () => void askPublicAccess(bucket, entries, false) },
  ];
  const remove: MenuItem[] = [
    { label: texts.delete, icon: 'trash', shortcut: 'Del', danger: true, act: () => void askDelete(bucket, entries) },
  ];
  openMenu([first, change, access, remove], texts.actionsFor(namesOf(entries)), at);
}

/** The keyboard shortcuts of a folder and its selected entries. */
export function onFolderKey(
  event: KeyboardEvent,
  { bucket, prefix, chosen }: { readonly bucket: string; readonly prefix: string; readonly chosen: readonly Entry[] },
): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isThere = !areDeleted(chosen);
  const acts: Readonly<Record<string, () => void>> = {
    u: () => chooseUpload('files'),
    n: () => void askFolder(bucket, prefix),
    f: () => document.getElementById('filter')?.focus(),
    Backspace: () => prefix !== '' && go({ page: 'objects', bucket, prefix: folderOf(prefix) }),
    ...(chosen.length === 1 &&
      isThere && {
        r: () => void askRename(bucket, chosen[0]!),
        F2: () => void askRename(bucket, chosen[0]!),
      }),
    ...(chosen.length > 0 && isThere && { Delete: () => void askDelete(bucket, chosen) }),
  };
  const act = acts[event.key];
  if (act === undefined) return;
  event.preventDefault();
  act();
}
