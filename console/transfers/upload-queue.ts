import type { S3Client } from '../s3/client.ts';
import { clear, read, readAll, remove, write, writeAll } from '../session/store.ts';

/** A file of an upload, as it is known again when it is chosen again. */
export interface QueuedFile {
  /** The path within the chosen or dropped folder: `photos/a.jpg`. */
  readonly path: string;
  readonly key: string;
  readonly size: number;
  readonly lastModified: number;
}

/** An upload of which some files were not sent when its page was closed. */
export interface UnfinishedQueue {
  readonly id: string;
  readonly accessKeyId: string;
  readonly endpoint: string;
  readonly bucket: string;
  readonly title: string;
  /** The files that are still to be sent. */
  readonly files: readonly QueuedFile[];
}

type Kept = Omit<UnfinishedQueue, 'files'>;

const lockOf = (id: string): string => `stillage-upload-${id}`;
const batch = 1_000;
/** The entries that this page is working on. */
const active = new Set<string>();

/**
 * The files that an upload still has to send, kept on this device until they are: browsers forget which files were chosen when
 * a page is closed. Storage that fails is no reason not to upload.
 */
export class UploadQueue {
  private readonly id: string;
  private readonly sentKeys = new Set<string>();
  private release: () => void = () => undefined;

  private constructor(id: string) {
    this.id = id;
    active.add(id);
    // Held until the page closes or the upload ends: other tabs know by it that somebody is at it.
    const ended = new Promise<void>((resolve) => (this.release = resolve));
    if ('locks' in navigator) void navigator.locks.request(lockOf(id), () => ended).catch(() => undefined);
  }

  /** Keeps the files of an upload that begins. */
  static begin(client: S3Client, bucket: string, title: string, files: readonly QueuedFile[]): UploadQueue {
    const queue = new UploadQueue(crypto.getRandomValues(new Uint32Array(4)).join('-'));
    const { endpoint, credentials } = client.signer;
    const kept: Kept = { id: queue.id, accessKeyId: credentials.accessKeyId, endpoint, bucket, title };
    void queue.keep(kept, files).catch(() => undefined);
    return queue;
  }

  /** Goes on with an upload that was begun before. */
  static resume(id: string): UploadQueue {
    return new UploadQueue(id);
  }

  private async keep(kept: Kept, files: readonly QueuedFile[]): Promise<void> {
    await write('queues', this.id, kept);
    for (let start = 0; start < files.length; start += batch) {
      const unsent = files.slice(start, start + batch).filter(({ key }) => !this.sentKeys.has(key));
      if (unsent.length > 0)
        await writeAll(
          'queued',
          unsent.map((file) => [this.nameOf(file.key), file] as const),
        );
    }
  }

  /** Takes a file off that was sent, or that the user chose to skip. */
  sent(key: string): void {
    this.sentKeys.add(key);
    void remove('queued', this.nameOf(key)).catch(() => undefined);
  }

  /** Ends the work on the queue. @param isGivenUp true to drop the rest of it */
  async end(isGivenUp: boolean): Promise<void> {
    const left = (await readAll('queued', `${this.id}/`).catch(() => [])) as QueuedFile[];
    if (isGivenUp || left.length === 0) await forgetQueue(this.id);
    active.delete(this.id);
    this.release();
  }

  private nameOf(key: string): string {
    return `${this.id}/${key}`;
  }
}

/** Forgets an upload and what it still had to send. */
export async function forgetQueue(id: string): Promise<void> {
  await Promise.all([remove('queues', id), clear('queued', `${id}/`)]).catch(() => undefined);
}

/** Returns the uploads of this access key that were begun on this device and are not finished, and whether a page is at them. */
async function queuesOf(client: S3Client): Promise<readonly (Kept & { readonly isActive: boolean })[]> {
  const { endpoint, credentials } = client.signer;
  const all = (await readAll('queues').catch(() => [])) as Kept[];
  const held = 'locks' in navigator ? ((await navigator.locks.query()).held ?? []).map(({ name }) => name) : [];
  return all
    .filter((each) => each.endpoint === endpoint && each.accessKeyId === credentials.accessKeyId)
    .map((each) => ({ ...each, isActive: active.has(each.id) || held.includes(lockOf(each.id)) }));
}

/** Returns the uploads of this access key that were begun on this device, are not finished, and that no page is at. */
export async function unfinishedQueues(client: S3Client): Promise<UnfinishedQueue[]> {
  const left = (await queuesOf(client)).filter(({ isActive }) => !isActive);
  const queues = await Promise.all(
    left.map(async (kept) => ({ ...kept, files: (await readAll('queued', `${kept.id}/`)) as QueuedFile[] })),
  );
  return queues.filter(({ files }) => files.length > 0);
}

/** Returns whether a page of this device is about to send a file to this key. */
export async function isBeingSent(client: S3Client, bucket: string, key: string): Promise<boolean> {
  const queues = (await queuesOf(client)).filter((each) => each.isActive && each.bucket === bucket);
  const found = await Promise.all(queues.map(({ id }) => read('queued', `${id}/${key}`)));
  return found.some((file) => file !== undefined);
}

/**
 * Calls back when a page that is at one of the uploads has finished it or was closed.
 *
 * @param watched those that are watched already; others are added
 */
export async function whenLeft(
  client: S3Client,
  watched: Set<string>,
  signal: AbortSignal,
  act: () => void,
): Promise<void> {
  if (!('locks' in navigator)) return;
  const others = (await queuesOf(client)).filter(({ id, isActive }) => isActive && !active.has(id) && !watched.has(id));
  for (const { id } of others) {
    watched.add(id);
    // The lock is free when the page has gone, and must not be held by this one when it looks.
    void navigator.locks.request(lockOf(id), { signal }, () => undefined).then(act, () => undefined);
  }
}
