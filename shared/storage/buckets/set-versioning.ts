import { S3Error } from '../../errors/s3-error.ts';
import { bestEffort } from '../table/settled.ts';
import type { BucketAuthorisation } from './authorisation.ts';
import type { BucketChanges } from './bucket-changes.ts';
import { settlingIs, type Versioning } from './bucket.ts';
import { settlingTime, settlingWait } from './commit-time.ts';

const staysEnabled =
  'An Object Lock configuration is present on this bucket, so the versioning state cannot be changed.';

/**
 * Changes the versioning state: implements `Buckets.setVersioning`. If other writers can read the bucket before the change and commit
 * after it, the new state settles first: no writer commits under it until every commit under the former state has ended.
 */
export async function setVersioning(
  changes: BucketChanges,
  authorisation: BucketAuthorisation,
  versioning: Exclude<Versioning, 'off'>,
): Promise<void> {
  const { table, clock, reads } = changes;
  const token = changes.token();
  const before = await changes.revise({
    load: () => reads.present(authorisation.bucket),
    revision: async (bucket) => {
      if (bucket.versioning === versioning) return undefined;
      if (bucket.objectLock) throw new S3Error('InvalidBucketState', { message: staysEnabled });
      const settling = table.freeChecks ? undefined : { token, until: clock.now() + settlingTime };
      return { bucket: { ...bucket, versioning, settling } };
    },
    confirm: (bucket) => authorisation.confirm(bucket),
  });
  if (before.versioning === versioning || table.freeChecks) return;
  await clock.sleep(settlingWait);
  const bucket = await reads.find(before.name);
  if (bucket?.settling?.token !== token) return;
  // The mark expires.
  await bestEffort(table.write([changes.change({ ...bucket, settling: undefined }, settlingIs(token))]));
}
