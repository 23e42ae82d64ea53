import { S3Error } from '../../errors/s3-error.ts';
import type { Change, Condition, KeyValueTable } from '../../ports/key-value-table.ts';
import { sortableTime } from '../table/keys/ids.ts';
import { currentVersionPartitions, itemKey } from '../table/keys/keys.ts';
import { conflict, tokenIs } from '../table/optimistic-write.ts';
import { bestEffort } from '../table/settled.ts';
import type { BucketAuthorisation } from './authorisation.ts';
import type { BucketChanges } from './bucket-changes.ts';
import { closingIs, type Bucket } from './bucket.ts';

/** The maximum time for which a bucket is closing while it is examined, in milliseconds. */
const closingTime = 5000;

/**
 * Removes an empty bucket: implements `Buckets.remove`. First marks the bucket as closing, so that writers wait; then removes it if it
 * is empty, or otherwise opens it again.
 * @param unlisted returns the changes that remove the bucket from the lists of those with documents
 */
export async function removeBucket(
  changes: BucketChanges,
  authorisation: BucketAuthorisation,
  unlisted: (bucket: Bucket) => readonly Change[],
): Promise<void> {
  const { table, clock, reads } = changes;
  return changes.attempt(async () => {
    const bucket = await reads.present(authorisation.bucket);
    const closing = { token: changes.token(), until: clock.now() + closingTime };
    const caller = await authorisation.confirm(bucket);
    const closed = await table.write(
      [changes.change({ ...bucket, closing }, tokenIs(bucket.token))],
      reads.ifFree(caller),
    );
    if (closed.outcome !== 'written') return conflict;
    // The mark expires.
    const reopen = (): Promise<void> =>
      bestEffort(table.write([changes.change({ ...bucket, closing: undefined }, closingIs(closing.token))]));
    const reopeningIfFailed = async <T>(work: () => Promise<T>): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        await reopen();
        throw error;
      }
    };
    await reopeningIfFailed(async () => {
      if (!(await holdsObjects(table, bucket))) return;
      throw new S3Error('BucketNotEmpty', { details: { BucketName: bucket.name } });
    });
    // The bucket cannot change while it is closing, but the caller's key may have been revoked.
    const confirm = (): Promise<readonly Condition[]> =>
      reopeningIfFailed(async () => reads.ifFree(await authorisation.confirmCaller()));
    return (await bury(changes, bucket, closing.token, unlisted(bucket), confirm)) ? undefined : conflict;
  });
}

async function holdsObjects(table: KeyValueTable, bucket: Bucket): Promise<boolean> {
  for (const shard of currentVersionPartitions(bucket.id)) {
    const { items } = await table.query(shard, { limit: 1 });
    if (items.length > 0) return true;
  }
  return false;
}

/** Replaces a closing bucket by its tombstone. @returns false if it is no longer closing */
async function bury(
  changes: BucketChanges,
  bucket: Bucket,
  closingToken: string,
  unlisted: readonly Change[],
  confirm: () => Promise<readonly Condition[]>,
): Promise<boolean> {
  const { table, clock, reads } = changes;
  const { id, name, project } = bucket;
  return changes.attempt(
    async () => {
      const count = await table.get(itemKey.bucketCount(project));
      const caller = await confirm();
      const written = await table.write(
        [
          {
            key: itemKey.bucket(name),
            delete: true,
            expect: { is: 'all', of: [closingIs(closingToken), { is: 'equal', attribute: 'id', value: id }] },
          },
          { key: itemKey.ownedBucket(project, name), delete: true },
          { key: itemKey.bucketName(id), delete: true },
          ...unlisted,
          changes.countChange(project, count, -1),
          { key: itemKey.tombstone(sortableTime(clock.now()), id), put: { name, project } },
        ],
        caller,
      );
      if (written.outcome === 'written') return true;
      const present = await reads.find(name);
      if (present?.id !== id) return true; // this write, whose response was lost, or another removal
      return present.closing?.token === closingToken ? conflict : false;
    },
    () => false,
  );
}
