import { S3Error } from '../../errors/s3-error.ts';
import { BlobsNotRemoved, type BlobStore } from '../../ports/blob-store.ts';
import { day } from '../../ports/durations.ts';
import { inParallel } from '../in-parallel.ts';
import type { Manifests } from '../objects/manifests.ts';
import type { ObjectAuthorisation } from '../objects/object-authorisation.ts';
import { conflict, optimistically, slowDown } from '../table/optimistic-write.ts';
import { partKey, stateKey } from '../table/upload-keys.ts';
import { openUploadsPage } from './open-uploads.ts';
import { partsOf } from './parts.ts';
import type { UploadChanges } from './upload-changes.ts';

/** How long a finished upload is kept, in milliseconds, so that a repeated Complete gets the same response. */
export const finishedUploadTime = 7 * day;

/** Items of parts that are removed at a time. */
const partsTogether = 16;

/** Ends an upload without an object: `Uploads.abort`. */
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
    // Another attempt could find it aborted by this very write, and report NoSuchUpload.
    if (outcome === 'unknown') throw new S3Error('ServiceUnavailable');
    return conflict;
  }, slowDown);
}

/** Ends every upload of a bucket that is gone: `Uploads.abortAll`. */
export async function abortUploadsOf(changes: UploadChanges, bucketId: string): Promise<void> {
  const { table } = changes;
  for (let after: string | undefined, more = true; more;) {
    const page = await openUploadsPage(table, bucketId, { prefix: '', after });
    for (const { id } of page.uploads) {
      const upload = await changes.byId(id);
      if (upload?.state === 'open') await table.write(changes.ended(upload, { state: 'aborted' }));
    }
    after = page.next;
    more = after !== undefined;
  }
}

/** Cleans up after an upload that has ended: `Uploads.finish`. */
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
  // A blob that cannot be removed keeps its part's item, by which it is found the next time.
  const left = blobs.length === 0 ? undefined : await store.remove(blobs).catch(notRemoved);
  const gone = parts.filter(({ blob }) => blob === undefined || !left?.refs.has(blob));
  await inParallel(gone, partsTogether, async (part) => {
    await table.write([{ key: partKey(id, part), delete: true }]);
  });
  if (left) throw left;
  if (clock.now() - upload.initiated > finishedUploadTime) await table.write([{ key: stateKey(id), delete: true }]);
}

/** @throws errors that say nothing about single blobs */
function notRemoved(error: unknown): BlobsNotRemoved {
  if (error instanceof BlobsNotRemoved) return error;
  throw error;
}
