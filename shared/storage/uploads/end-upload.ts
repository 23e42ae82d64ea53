import { S3Error } from '../../errors/s3-error.ts';
import { BlobsNotRemoved, type BlobStore } from '../../ports/blob-store.ts';
import { day } from '../../ports/durations.ts';
import { inParallel } from '../concurrency.ts';
import type { Manifests } from '../objects/manifests.ts';
import type { ObjectAuthorisation } from '../version-changes/object-authorisation.ts';
import { conflict, optimistically, slowDown } from '../table/optimistic-write.ts';
import { pages } from '../table/pages.ts';
import { settled } from '../table/settled.ts';
import { partKey, stateKey } from '../table/keys/upload-keys.ts';
import { openUploadsPage } from './open-uploads.ts';
import { partsOf } from './parts.ts';
import type { UploadChanges } from './upload-changes.ts';

/** The time for which an ended upload is kept, in milliseconds, so that a repeated CompleteMultipartUpload gets the same response. */
export const finishedUploadTime = 7 * day;

/** The number of parts' items that are removed concurrently. */
const partsTogether = 16;

/** Ends an upload without creating an object: implements `Uploads.abort`. */
export async function abortUpload(
  changes: UploadChanges,
  authorisation: ObjectAuthorisation,
  id: string,
): Promise<void> {
  const { table, buckets } = changes;
  return optimistically(async (attempt) => {
    const bucket = await buckets.confirmedFor(
      attempt === 0 ? authorisation.bucket : buckets.stale(authorisation.bucket),
    );
    const upload = await changes.open(bucket.id, authorisation.key, id);
    const caller = await authorisation.confirm(bucket);
    const { outcome } = await table.write(
      changes.ended(upload, { state: 'aborted' }),
      buckets.commitConditions(bucket, caller),
    );
    if (outcome === 'written') return;
    // Another attempt could find the upload aborted by this write, and report NoSuchUpload.
    if (outcome === 'unknown') throw new S3Error('ServiceUnavailable');
    return conflict;
  }, slowDown);
}

/** Ends every upload of a bucket that is gone: implements `Uploads.abortAll`. */
export async function abortUploadsOf(changes: UploadChanges, bucketId: string): Promise<void> {
  const { table } = changes;
  for await (const { uploads } of pages((after) => openUploadsPage(table, bucketId, { prefix: '', after }))) {
    for (const { id } of uploads) {
      const upload = await changes.byId(id);
      if (upload?.state === 'open') await settled(table.write(changes.ended(upload, { state: 'aborted' })));
    }
  }
}

/** Cleans up after an upload that has ended: implements `Uploads.finish`. */
export async function finishUpload(
  changes: UploadChanges,
  { blobs: store, manifests }: { readonly blobs: BlobStore; readonly manifests: Manifests },
  id: string,
): Promise<void> {
  const { table, clock } = changes;
  const upload = await changes.byId(id);
  if (upload === undefined || upload.state === 'open') return;
  const picked = new Set(
    upload.picked === undefined ? [] : (await manifests.parts(upload.picked)).map(({ blob }) => blob),
  );
  const parts = await partsOf(table, id);
  const blobs = parts.flatMap(({ blob }) => (blob === undefined || picked.has(blob) ? [] : [blob]));
  // If a blob cannot be removed, its part's item stays, so that the next attempt finds it.
  const left = blobs.length === 0 ? undefined : await store.remove(blobs).catch(notRemoved);
  const gone = parts.filter(({ blob }) => blob === undefined || !left?.refs.has(blob));
  await inParallel(gone, partsTogether, async (part) => {
    await settled(table.write([{ key: partKey(id, part), delete: true }]));
  });
  if (left) throw left;
  if (clock.now() - upload.initiated > finishedUploadTime)
    await settled(table.write([{ key: stateKey(id), delete: true }]));
}

/** Returns an error that names the blobs that could not be removed. @throws any other error */
function notRemoved(error: unknown): BlobsNotRemoved {
  if (error instanceof BlobsNotRemoved) return error;
  throw error;
}
