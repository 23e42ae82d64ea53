import type { S3Client } from '../s3/client.ts';
import { allBegunParts, discardParts, type BegunParts } from './begun-parts.ts';
import type { UploadItem } from './upload.ts';
import { forgetQueue, isBeingSent, unfinishedQueues, type QueuedFile } from './upload-queue.ts';

/** An upload that a closed page left, or that was stopped while the service had parts of a file. */
export interface UnfinishedUpload {
  readonly id: string;
  readonly bucket: string;
  readonly title: string;
  /** The files that are still to be sent, wholly or in part. */
  readonly files: readonly QueuedFile[];
  /** The multipart uploads of these files that were begun. */
  readonly parts: readonly BegunParts[];
  /** True if the device stores the rest of it. */
  readonly isQueued: boolean;
}

/** Returns the unfinished uploads of this access key on this device that no page is at. */
export async function unfinishedUploads(client: S3Client): Promise<UnfinishedUpload[]> {
  const [queues, begun] = await Promise.all([unfinishedQueues(client), allBegunParts(client)]);
  const left = new Map(begun.map((each) => [`${each.bucket}/${each.key}`, each]));
  const take = (bucket: string, key: string): readonly BegunParts[] => {
    const place = `${bucket}/${key}`;
    const parts = left.get(place);
    left.delete(place);
    return parts === undefined ? [] : [parts];
  };
  const queued = queues.map((queue): UnfinishedUpload => ({
    ...queue,
    isQueued: true,
    parts: queue.files.flatMap(({ key }) => take(queue.bucket, key)),
  }));
  const alone: UnfinishedUpload[] = [];
  for (const parts of left.values()) {
    const { uploadId: id, bucket, key, name: path, size, lastModified } = parts;
    if (await isBeingSent(client, bucket, key)) continue;
    alone.push({ id, bucket, title: key, files: [{ path, key, size, lastModified }], parts: [parts], isQueued: false });
  }
  return [...queued, ...alone];
}

/** Returns the files to send: those of the chosen ones that have the same path, size and time. */
export function resumedItems({ files }: UnfinishedUpload, chosen: readonly UploadItem[]): UploadItem[] {
  const byPath = new Map(chosen.map((item) => [item.path, item.file]));
  return files.flatMap(({ path, key, size, lastModified }) => {
    const file = byPath.get(path);
    return file?.size === size && file.lastModified === lastModified ? [{ file, path, key }] : [];
  });
}

/** Gives an upload up: the service forgets the parts it has, and this device the rest. */
export async function discard(client: S3Client, { id, parts, isQueued }: UnfinishedUpload): Promise<void> {
  for (const each of parts) await discardParts(client, each);
  if (isQueued) await forgetQueue(id);
}
