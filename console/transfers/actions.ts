import {
  deleteCommand,
  deleteVersionCommand,
  publicAccessCommand,
  transferCommand,
} from '../format/object-commands.ts';
import { getAcl, putAcl, withPublicRead } from '../s3/access.ts';
import { isUnreachable } from '../s3/address.ts';
import type { S3Client } from '../s3/client.ts';
import { everyObject, everyVersion, type Entry, type ObjectEntry } from '../s3/listing.ts';
import {
  copyObject,
  deleteObject,
  DeletionFailed,
  headObject,
  renameObject,
  type Doomed,
  type Marker,
} from '../s3/objects.ts';
import { Conflicts, type Ask } from './conflicts.ts';
import { batches, deletion, type Batch } from './deletion.ts';
import { once, type Job } from './job.ts';
import { start } from './queue.ts';

/*
 * Pausing or stopping cancels listings, and copies by parts. Other requests that change something are completed: without the response it
 * would be unknown what they did. A repeated copy would find its own result, and a deletion could not be undone.
 */

/** Something to move, and where it shall be. */
interface Move {
  readonly from: string;
  readonly to: string;
  readonly size: number;
  readonly etag: string;
  /** Names this move to the service. */
  readonly token: string;
}

/** The chosen objects, and for a folder all objects in it, as it is listed. */
export async function* objectsOf(
  client: S3Client,
  bucket: string,
  entries: readonly Entry[],
  signal?: AbortSignal,
): AsyncGenerator<readonly ObjectEntry[]> {
  const objects = entries.filter((entry) => entry.kind === 'object');
  if (objects.length > 0) yield objects;
  for (const { kind, key } of entries) if (kind === 'folder') yield* everyObject(client, bucket, key, signal);
}

async function* moves(
  objects: AsyncIterable<readonly ObjectEntry[]>,
  rename: (key: string) => string,
  isWithinBucket: boolean,
): AsyncGenerator<readonly Move[]> {
  for await (const page of objects) {
    const all = page.map(({ key, size, etag }) => {
      const token = crypto.getRandomValues(new Uint32Array(4)).join('-');
      return { from: key, to: rename(key), size, etag, token };
    });
    // Objects that keep their key need no request.
    yield isWithinBucket ? all.filter(({ from, to }) => from !== to) : all;
  }
}

const concurrency = 5;

export interface Destination {
  readonly bucket: string;
  /** The new name of each key. */
  readonly rename: (key: string) => string;
}

/** Copies or moves inside the service. Within a bucket a move is a rename, which takes metadata, tags and ACL along. */
export function startMove(
  client: S3Client,
  kind: 'copy' | 'move' | 'rename',
  from: { readonly bucket: string; readonly entries: readonly Entry[] },
  to: Destination,
  options: { readonly title: string; readonly ask: Ask },
): Job<Move> {
  const conflicts = new Conflicts(options.ask);
  const isRename = kind !== 'copy' && from.bucket === to.bucket;
  /** The ETags of what was copied: when the deletion that follows is repeated, the copy is not. */
  const copied = new Map<Move, string>();
  return start<Move>({
    kind,
    title: options.title,
    bucket: to.bucket,
    commands: () =>
      from.entries.map((entry) =>
        transferCommand(client.signer, kind === 'copy' ? 'cp' : 'mv', from.bucket, entry, to),
      ),
    unit: 'objects',
    concurrency,
    // Names that the job itself makes must not be listed and moved again: it begins when all are known.
    items: (signal) =>
      moves(snapshot(objectsOf(client, from.bucket, from.entries, signal)), to.rename, from.bucket === to.bucket),
    name: (item) => item.from,
    amount: () => 1,
    work: async (item, { signal }) => {
      const copy = async (key: string, ifAbsent: boolean): Promise<void> => {
        if (isRename) return renameObject(client, to.bucket, item.from, key, { ifAbsent, token: item.token });
        const source = { bucket: from.bucket, key: item.from };
        // A copy gets the defaults of its bucket; what is moved stays as it is.
        const stored =
          kind === 'copy' || isUnreachable(item.from) ? undefined : await headObject(client, from.bucket, item.from);
        const options = { size: item.size, ifAbsent, signal, ...(stored && { stored }) };
        await copyObject(client, source, { bucket: to.bucket, key }, options);
        copied.set(item, stored?.etag ?? item.etag);
      };
      if (!copied.has(item)) await conflicts.write(item.to, copy);
      const etag = copied.get(item);
      if (kind !== 'copy' && etag !== undefined) await deleteCopied(client, from.bucket, { key: item.from, etag });
    },
  });
}

/** Deletes what was copied, unless it has changed since. It may be gone: when the answer to its deletion was lost. */
async function deleteCopied(client: S3Client, bucket: string, doomed: Doomed): Promise<void> {
  try {
    await deleteObject(client, bucket, doomed);
  } catch (error) {
    if (!(error instanceof DeletionFailed && error.undeleted.code === 'NoSuchKey')) throw error;
  }
}

/** Yields all pages as one, when the last of them is there. */
async function* snapshot<T>(pages: AsyncIterable<readonly T[]>): AsyncGenerator<readonly T[]> {
  const all: (readonly T[])[] = [];
  for await (const page of pages) all.push(page);
  yield all.flat();
}

/** Deletes objects and folders. Where the bucket keeps versions, the job can be undone: its delete markers are removed. */
export function startDelete(
  client: S3Client,
  bucket: string,
  entries: readonly Entry[],
  options: { readonly title: string; readonly undone?: () => void },
): Job<Batch> {
  const markers: Marker[] = [];
  const job: Job<Batch> = start<Batch>({
    kind: 'delete',
    title: options.title,
    bucket,
    commands: () => entries.map((entry) => deleteCommand(client.signer, bucket, entry)),
    ...deletion(client, bucket, (made) => markers.push(...made)),
    items: async function* (signal) {
      for await (const page of snapshot(objectsOf(client, bucket, entries, signal))) yield batches(page);
    },
    ended: () => {
      if (markers.length === 0) return;
      job.undo.value = () => {
        job.undo.value = undefined;
        startUndelete(client, bucket, markers.splice(0), options.title);
      };
    },
  });
  return job;
}

/** Deletes versions for good; of delete markers, what they hid comes back. */
export function startVersionDelete(
  client: S3Client,
  bucket: string,
  versions: (signal: AbortSignal) => AsyncIterable<readonly Doomed[]>,
  options: {
    readonly kind: 'delete' | 'undelete';
    readonly title: string;
    readonly commands: () => readonly string[];
    readonly ended?: () => void;
  },
): Job<Batch> {
  return start<Batch>({
    kind: options.kind,
    title: options.title,
    bucket,
    commands: options.commands,
    ...deletion(client, bucket),
    items: async function* (signal) {
      for await (const page of versions(signal)) yield batches(page);
    },
    ...(options.ended && { ended: options.ended }),
  });
}

/** Lists everything in a bucket, versions and delete markers, page by page. */
export async function* contentOf(
  client: S3Client,
  bucket: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly Doomed[]> {
  for await (const page of everyVersion(client, bucket, '', signal)) {
    yield page.map(({ key, versionId }) => ({ key, versionId }));
  }
}

/** Restores deleted objects by removing their delete markers. */
export function startUndelete(client: S3Client, bucket: string, markers: readonly Marker[], title: string): Job<Batch> {
  return startVersionDelete(client, bucket, () => once(markers), {
    kind: 'undelete',
    title,
    commands: () => markers.map(({ key, versionId }) => deleteVersionCommand(client.signer, bucket, key, versionId)),
  });
}

/** Makes objects, and all objects in folders, public, or private except for grants by name. */
export function startPublicAccess(
  client: S3Client,
  bucket: string,
  entries: readonly Entry[],
  open: boolean,
  options: { readonly title: string; readonly ended?: () => void },
): Job<ObjectEntry> {
  return start<ObjectEntry>({
    kind: 'access',
    title: options.title,
    bucket,
    commands: () => entries.map((entry) => publicAccessCommand(client.signer, bucket, entry, open)),
    unit: 'objects',
    concurrency,
    items: (signal) => objectsOf(client, bucket, entries, signal),
    name: ({ key }) => key,
    amount: () => 1,
    work: async ({ key }) => {
      const acl = await getAcl(client, { bucket, key });
      await putAcl(client, { bucket, key }, withPublicRead(acl, open));
    },
    ...(options.ended && { ended: options.ended }),
  });
}
