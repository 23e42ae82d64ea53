import { Buckets } from '../../../shared/metadata/buckets/buckets.ts';
import { Graves } from '../../../shared/metadata/removal/graves.ts';
import { Manifests } from '../../../shared/metadata/objects/manifests.ts';
import { Release } from '../../../shared/metadata/removal/release.ts';
import type { ScrubRooms } from '../../../shared/metadata/scrub/rooms.ts';
import { Uploads } from '../../../shared/metadata/uploads/uploads.ts';

/**
 * The rooms of a scrub over a choice of adapters, without a way to wait for the change feed.
 */
export function scrubRooms(
  adapters: Pick<ScrubRooms, 'table' | 'blobs' | 'clock' | 'randomness'>,
): Omit<ScrubRooms, 'drain'> {
  const { table, blobs, clock, randomness } = adapters;
  const manifests = new Manifests(adapters);
  const uploads = new Uploads({ ...adapters, buckets: new Buckets(adapters), manifests });
  const release = new Release({ ...adapters, manifests, uploads });
  const graves = new Graves({ ...adapters, uploads });
  return { table, blobs, clock, randomness, manifests, uploads, release, graves };
}
