import { S3Error } from '../../errors/s3-error.ts';
import { markerBytes } from '../../storage/version-changes/new-version.ts';
import type { Objects } from '../../storage/objects/objects.ts';
import type { Quotas, Room } from '../../storage/quotas/quotas.ts';
import type { Bucket } from '../../storage/buckets/bucket.ts';

/** Returns the room for uploads or public links in a bucket. @param most the most of them */
export function roomIn(bucket: Bucket, quotas: Quotas, most: number): Room {
  return { most, reserve: (bytes) => quotas.reserve(bucket, { bytes, objects: 0 }) };
}

/**
 * Does a DELETE, counting the delete marker that it may lay. At a reached quota, it succeeds if it hides or removes an object; one that
 * would only lay a marker beside nothing, or on another marker, does not.
 * @throws S3Error QuotaExceeded
 */
export async function withMarkerRoom<Result>(
  { bucket, objects, quotas }: { readonly bucket: Bucket; readonly objects: Objects; readonly quotas: Quotas },
  { key, versionId }: { readonly key: string; readonly versionId?: string | undefined },
  remove: () => Promise<Result>,
): Promise<Result> {
  if (versionId !== undefined || bucket.versioning === 'off') return remove();
  try {
    const reservation = await quotas.reserve(bucket, { bytes: markerBytes(key), objects: 0 });
    return await remove().finally(() => reservation.release());
  } catch (error) {
    if (!(error instanceof S3Error && error.code === 'QuotaExceeded')) throw error;
    const current = await objects.find(bucket, key);
    if (current === undefined || current.marker) throw error;
    return remove();
  }
}
