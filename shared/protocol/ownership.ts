import type { Caller } from '../access/identity.ts';
import type { Bucket } from '../metadata/buckets.ts';

/** Whose a new object will be: the caller's project's, or the bucket owner's if nobody said who they are. */
export function projectOf(caller: Caller, bucket: Bucket): string {
  return caller.kind === 'user' ? caller.project.id : bucket.project;
}
