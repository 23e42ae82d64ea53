import type { BlobStore } from '../../ports/blob-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { BucketPurge } from '../removal/bucket-purge.ts';
import type { Manifests } from '../objects/manifests.ts';
import type { Release } from '../removal/release.ts';
import type { Uploads } from '../uploads/uploads.ts';

/** What a scrub needs. Where there is a worker for a mend, it does it. */
export interface ScrubDeps {
  readonly table: KeyValueTable;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly manifests: Manifests;
  readonly uploads: Uploads;
  readonly release: Release;
  readonly bucketPurge: BucketPurge;
  /**
   * Resolves once everything that was in the change feed has been followed. Undefined where that cannot be waited for: then
   * counters are not looked at.
   */
  readonly drain?: () => Promise<void>;
}
