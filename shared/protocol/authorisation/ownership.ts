import type { AskedAcl } from '../../access/acl-headers.ts';
import type { Caller } from '../../access/identity.ts';
import type { Bucket } from '../../metadata/buckets/bucket.ts';

/**
 * Whose a new object will be: the caller's project's, or the bucket owner's if nobody said who they are. The bucket's owner may have
 * set that all objects are theirs, or all whose writer gives them full control:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/about-object-ownership.html
 * @param asked the ACL that the request gives it
 */
export function ownerOfNew(caller: Caller, bucket: Bucket, asked?: AskedAcl): string {
  if (caller.kind === 'anonymous') return bucket.project;
  const isGiven = asked !== undefined && 'canned' in asked && asked.canned === 'bucket-owner-full-control';
  if (isGiven && bucket.objectOwnership === 'BucketOwnerPreferred') return bucket.project;
  return ownerIn(bucket, caller.project.id);
}

/** Whose an object is, or counts as: where ACLs are off, everything in a bucket is its owner's. */
export function ownerIn(
  { objectOwnership, project }: Pick<Bucket, 'objectOwnership' | 'project'>,
  owner: string,
): string {
  return objectOwnership === 'BucketOwnerEnforced' ? project : owner;
}

/**
 * What a DELETE without a version id must leave alone: the owner of a bucket cannot take an object of another project away for
 * good without naming its version. Whoever else may write there can.
 */
export function sparing(caller: Caller, bucket: Bucket): 'foreign' | undefined {
  if (bucket.objectOwnership === 'BucketOwnerEnforced') return undefined;
  return caller.kind === 'user' && caller.project.id === bucket.project ? 'foreign' : undefined;
}
