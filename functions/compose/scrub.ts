import { Buckets } from '../../shared/storage/buckets/buckets.ts';
import { BucketPurge } from '../../shared/storage/removal/bucket-purge.ts';
import { Manifests } from '../../shared/storage/objects/manifests.ts';
import { Objects } from '../../shared/storage/objects/objects.ts';
import { Release } from '../../shared/storage/removal/release.ts';
import type { ScrubDeps } from '../../shared/scrub/deps.ts';
import { Uploads } from '../../shared/storage/uploads/uploads.ts';

/**
 * Returns the dependencies of a scrub for these adapters, except `drain`, which waits for the change feed.
 */
export function scrubDeps(
  adapters: Pick<ScrubDeps, 'table' | 'blobs' | 'clock' | 'randomness'>,
): Omit<ScrubDeps, 'drain'> & { readonly release: Release } {
  const { table, blobs, clock, randomness } = adapters;
  const manifests = new Manifests(adapters);
  const buckets = new Buckets(adapters);
  const objects = new Objects({ ...adapters, buckets, recorder: undefined });
  const uploads = new Uploads({ ...adapters, buckets, manifests });
  const release = new Release({ ...adapters, manifests, uploads });
  const bucketPurge = new BucketPurge({ ...adapters, objects, uploads });
  return { table, blobs, clock, randomness, manifests, uploads, release, bucketPurge };
}
