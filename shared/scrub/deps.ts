import type { BlobStore } from '../ports/blob-store.ts';
import type { Clock } from '../ports/clock.ts';
import type { KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { BucketPurge } from '../storage/removal/bucket-purge.ts';
import type { Manifests } from '../storage/objects/manifests.ts';
import type { Release } from '../storage/removal/release.ts';
import type { Uploads } from '../storage/uploads/uploads.ts';

/**
 * The dependencies of a scrub. Repairs are made by the workers that do the same in normal operation, where there are
 * any.
 */
export interface ScrubDeps {
  readonly table: KeyValueTable;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly manifests: Manifests;
  readonly uploads: Uploads;
  readonly release: Pick<Release, 'sweep'>;
  readonly bucketPurge: BucketPurge;
  /**
   * Resolves once the followers of the change feed have processed every record written before the call. Undefined where
   * that cannot be awaited: counters are then not checked.
   */
  readonly drain?: () => Promise<void>;
}
