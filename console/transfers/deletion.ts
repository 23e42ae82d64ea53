import type { S3Client } from '../s3/client.ts';
import { isFailure } from '../s3/failure.ts';
import { latestVersion } from '../s3/listing.ts';
import { deleteObjects, DeletionFailed, type Doomed, type Marker } from '../s3/objects.ts';
import type { JobSpec } from './job.ts';

/** A request of up to 1,000 keys. */
export interface Batch {
  readonly doomed: readonly Doomed[];
}

const maxKeys = 1_000;

/** Cuts into requests. */
export function batches(all: readonly Doomed[]): readonly Batch[] {
  const requests: Batch[] = [];
  for (let start = 0; start < all.length; start += maxKeys) {
    const doomed = all
      .slice(start, start + maxKeys)
      .map(({ key, versionId }) => ({ key, ...(versionId !== undefined && { versionId }) }));
    requests.push({ doomed });
  }
  return requests;
}

/**
 * The work of a job that deletes. A request whose answer was lost may have been executed, and once more it would add a second delete marker:
 * before it is repeated, the keys are looked at.
 *
 * @param onMarkers called with the delete markers that it has added
 */
export function deletion(
  client: S3Client,
  bucket: string,
  onMarkers: (markers: readonly Marker[]) => void = () => undefined,
): Pick<JobSpec<Batch>, 'unit' | 'concurrency' | 'name' | 'amount' | 'work' | 'join'> {
  const unanswered = new Set<string>();
  return {
    unit: 'objects',
    concurrency: 2,
    name: ({ doomed }) => doomed[0]?.key ?? '',
    amount: ({ doomed }) => doomed.length,
    join: (items) => batches(items.flatMap(({ doomed }) => doomed)),
    work: async ({ doomed }, { fail }) => {
      const left: Doomed[] = [];
      for (const each of doomed) {
        const marker =
          each.versionId === undefined && unanswered.has(each.key)
            ? await markerOf(client, bucket, each.key)
            : undefined;
        if (marker === undefined) left.push(each);
        else onMarkers([marker]);
      }
      for (const { key } of doomed) unanswered.delete(key);
      if (left.length === 0) return;
      const { undeleted, markers } = await deleteObjects(client, bucket, left).catch((error: unknown) => {
        if (!isFailure(error) || error.status === 0 || error.status >= 500)
          for (const { key } of left) unanswered.add(key);
        throw error;
      });
      onMarkers(markers);
      for (const each of undeleted) {
        const isMeant = ({ key, versionId }: Doomed): boolean =>
          key === each.key && (each.versionId === undefined || versionId === each.versionId);
        fail(each.key, new DeletionFailed(each), { doomed: left.filter(isMeant) });
      }
    },
  };
}

/** Returns the delete marker that hides a key, if there is one. */
async function markerOf(client: S3Client, bucket: string, key: string): Promise<Marker | undefined> {
  const latest = await latestVersion(client, bucket, key);
  return latest?.isMarker === true ? { key, versionId: latest.versionId } : undefined;
}
