import { Buckets } from '../../../shared/storage/buckets/buckets.ts';
import { Objects } from '../../../shared/storage/objects/objects.ts';
import { BucketPurge } from '../../../shared/storage/removal/bucket-purge.ts';
import { keepLockTime } from '../../../shared/storage/table/lock-clock.ts';
import { backgroundHandler } from './background-handler.ts';
import { releaseDeps } from './release.ts';

/** Purges removed buckets, and keeps the time by which locks end. */
export const handler = backgroundHandler('sweep-removed-buckets', (deps) => {
  const objects = new Objects({ ...deps, buckets: new Buckets(deps), recorder: undefined });
  const bucketPurge = new BucketPurge({ ...deps, objects, uploads: releaseDeps(deps).uploads });
  return async (_event: unknown, stopping) => {
    await keepLockTime(deps);
    await bucketPurge.sweep(stopping);
    return undefined;
  };
});
