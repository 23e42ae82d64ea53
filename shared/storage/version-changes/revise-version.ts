import type { Bucket } from '../buckets/bucket.ts';
import { optimistically, slowDown } from '../table/optimistic-write.ts';
import { lostBy, type KeyCommits } from './key-commits.ts';
import type { ObjectAttributes } from '../versions/object-attributes.ts';
import type { ObjectAuthorisation } from './object-authorisation.ts';
import { OutcomeUnknown } from './outcomes.ts';
import type { ObjectLock } from '../versions/object-lock.ts';
import { type Version, presentVersion } from '../versions/versions.ts';

/** Returns the new object attributes of a version, given the present ones, or throws. Called at every attempt. */
export type ChangeOfAttributes = (
  objectAttributes: ObjectAttributes,
  version: Version,
  bucket: Bucket,
) => ObjectAttributes;

/** Returns what changes about a version, or throws. Called at every attempt, with the time by which retention periods end. */
export type ChangeOfVersion = (version: Version, bucket: Bucket, lockTime: () => Promise<number>) => Promise<Revised>;

interface Revised extends ObjectLock {
  readonly objectAttributes: ObjectAttributes;
}

/** Changes a version, but not its content: implements `Objects.revise` and `Objects.relock`. The caller holds the mutex of the key. */
export async function reviseVersion(
  commits: KeyCommits,
  authorisation: ObjectAuthorisation,
  change: ChangeOfVersion,
): Promise<Version> {
  const { key, versionId } = authorisation;
  let { bucket } = authorisation;
  const chain = commits.chain(bucket.id, key);
  return optimistically(async (attempt) => {
    const found = await (versionId === undefined ? chain.findCurrent() : chain.find(versionId));
    const version = presentVersion(found?.version, key, versionId);
    bucket = await commits.buckets.confirmedFor(bucket);
    const caller = await authorisation.confirmVersion(bucket, version);
    const changed = await change(version, bucket, () => chain.lockTime());
    const revised = await commits.place(key, { ...version, ...changed });
    const record = await commits.recorded(bucket, authorisation.origin, { key, change: 'revised', version });
    const changes = [...chain.revise(found!, { ...version, ...revised }), ...record];
    const outcome = await commits.write(bucket, changes, { caller });
    if (outcome === 'written') return version;
    if (outcome === 'unknown') throw new OutcomeUnknown();
    bucket = await commits.again(bucket, attempt);
    return lostBy(outcome);
  }, slowDown);
}
