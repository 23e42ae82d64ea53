import type { Caller } from '../../access/identity.ts';
import type { Bucket } from '../../metadata/buckets/bucket.ts';

/** Whose a new object will be: the caller's project's, or the bucket owner's if nobody said who they are. */
export function projectOf(caller: Caller, bucket: Bucket): string {
  return caller.kind === 'user' ? caller.project.id : bucket.project;
}

/**
 * What a DELETE without a version id must leave alone: the owner of a bucket cannot take an object of another project away for
 * good without naming its version. Whoever else may write there can.
 */
export function sparing(caller: Caller, bucket: Bucket): 'foreign' | undefined {
  return caller.kind === 'user' && caller.project.id === bucket.project ? 'foreign' : undefined;
}
