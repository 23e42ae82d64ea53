import { S3Error } from '../../errors/s3-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { lockedLayout, requireLayout } from '../table/layout.ts';
import { startLockClock } from '../table/lock-clock.ts';
import type { BucketAuthorisation } from './authorisation.ts';
import type { ObjectLockSettings } from './bucket-settings.ts';
import type { Bucket } from './bucket.ts';
import type { BucketChanges } from './bucket-changes.ts';

/** Before the first bucket has an object lock: earlier versions of the program, which would free what is locked, refuse the table. */
export async function prepareForLocks(deps: {
  readonly table: KeyValueTable;
  readonly clock: Clock;
  readonly randomness: Randomness;
}): Promise<void> {
  await requireLayout(deps, lockedLayout);
  await startLockClock(deps);
}

/** Enables the object lock of a bucket, or changes its default retention: implements `Buckets.setObjectLock`. */
export async function setObjectLock(
  changes: BucketChanges,
  authorisation: BucketAuthorisation,
  objectLock: ObjectLockSettings,
): Promise<void> {
  await changes.revise({
    load: () => changes.reads.present(authorisation.bucket),
    revision: async (bucket) => {
      checkVersioned(bucket);
      if (bucket.objectLock === undefined) await prepareForLocks(changes);
      return { bucket: { ...bucket, objectLock } };
    },
    confirm: (bucket) => authorisation.confirm(bucket),
  });
}

function checkVersioned({ versioning }: Bucket): void {
  if (versioning === 'on') return;
  throw new S3Error('InvalidBucketState', {
    message: "Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration",
  });
}
