import type { AskedAcl } from '../../access/acl-headers.ts';
import type { Caller } from '../../access/identity.ts';
import type { Bucket } from '../../storage/buckets/bucket.ts';

/**
 * Returns the owner of a new object: the caller's project, or the bucket's owner for others. The bucket's
 * settings may make its owner the owner of all objects, or of those whose writer grants the owner full control:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/about-object-ownership.html
 * @param asked the ACL in the request
 */
export function ownerOfNew(caller: Caller, bucket: Bucket, asked?: AskedAcl): string {
  if (caller.kind !== 'user') return bucket.project;
  const isGiven = asked !== undefined && 'canned' in asked && asked.canned === 'bucket-owner-full-control';
  if (isGiven && bucket.objectOwnership === 'BucketOwnerPreferred') return bucket.project;
  return ownerIn(bucket, caller.project.id);
}

/** Returns the effective owner of an object: where ACLs are disabled, the bucket's owner owns everything in it. */
export function ownerIn(
  { objectOwnership, project }: Pick<Bucket, 'objectOwnership' | 'project'>,
  owner: string,
): string {
  return objectOwnership === 'BucketOwnerEnforced' ? project : owner;
}

/**
 * Returns which versions a DELETE without a version id must not remove: the owner of a bucket cannot permanently delete
 * another project's object without naming its version. Other callers with write access can.
 */
export function sparing(caller: Caller, bucket: Bucket): 'foreign' | undefined {
  if (bucket.objectOwnership === 'BucketOwnerEnforced') return undefined;
  return caller.kind === 'user' && caller.project.id === bucket.project ? 'foreign' : undefined;
}
