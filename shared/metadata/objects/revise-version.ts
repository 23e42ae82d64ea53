import type { Bucket } from '../buckets/bucket.ts';
import { optimistically, slowDown } from '../table/optimistic-write.ts';
import { lostBy, type KeyCommits } from './key-commits.ts';
import type { ObjectAttributes } from './object-attributes.ts';
import type { ObjectAuthorisation } from './object-authorisation.ts';
import { OutcomeUnknown } from './outcomes.ts';
import { presentVersion } from './present-version.ts';
import type { Version } from './versions.ts';

/** Returns the new object attributes of a version, given the present ones, or throws. Called at every attempt. */
export type ChangeOfAttributes = (
  objectAttributes: ObjectAttributes,
  version: Version,
  bucket: Bucket,
) => ObjectAttributes;

/**
 * Changes the object attributes of a version: implements `Objects.revise`. The caller holds the mutex of the key.
 * @param read reads the object attributes of a version
 */
export async function reviseVersion(
  commits: KeyCommits,
  authorisation: ObjectAuthorisation,
  read: (version: Version) => Promise<ObjectAttributes>,
  change: ChangeOfAttributes,
): Promise<Version> {
  const { key, versionId } = authorisation;
  let { bucket } = authorisation;
  const chain = commits.chain(bucket.id, key);
  return optimistically(async (attempt) => {
    const found = await (versionId === undefined ? chain.findCurrent() : chain.find(versionId));
    const version = presentVersion(found?.version, key, versionId);
    bucket = await commits.buckets.confirmedFor(bucket);
    const caller = await authorisation.confirmVersion(bucket, version);
    const objectAttributes = change(await read(version), version, bucket);
    const revised = await commits.place(key, { ...version, objectAttributes });
    const outcome = await commits.write(bucket, chain.revise(found!, { ...version, ...revised }), { caller });
    if (outcome === 'written') return version;
    if (outcome === 'unknown') throw new OutcomeUnknown();
    bucket = await commits.again(bucket, attempt);
    return lostBy(outcome);
  }, slowDown);
}
