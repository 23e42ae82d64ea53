import { cannedAcl, isOwnersAlone, isPublicGrant, type Acl } from '../../access/acl.ts';
import type { AskedAcl } from '../../access/acl-headers.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { BucketSettings, ObjectOwnership } from '../../metadata/buckets/bucket-settings.ts';

/*
 * What a bucket's settings make of ACLs:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/about-object-ownership.html
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html
 */

/** Whether the ACLs of a bucket and its objects are off. */
function aclsAreOff({ objectOwnership }: BucketSettings): boolean {
  return objectOwnership === 'BucketOwnerEnforced';
}

/** The part of an ACL that grants anything, in a bucket with these settings. What is left out is listed all the same, unless ACLs are off. */
export function countingGrants(acl: Acl, bucket: BucketSettings): Acl {
  if (aclsAreOff(bucket)) return [];
  return bucket.publicAccessBlock?.ignorePublicAcls ? acl.filter((grant) => !isPublicGrant(grant)) : acl;
}

/** An ACL as it is shown: where ACLs are off, the bucket's owner has full control and nobody else has anything. */
export function aclToShow(acl: Acl, bucket: BucketSettings & { readonly project: string }): Acl {
  return aclsAreOff(bucket) ? cannedAcl('private', bucket.project, bucket.project) : acl;
}

/**
 * Refuses an ACL that a request gives to a bucket or an object.
 * @param asked as the request says it: where ACLs are off, `private` would not have the bucket's owner own an upload
 * @param acl what that comes to
 * @throws S3Error AccessControlListNotSupported, AccessDenied (it is public, and public ones are blocked)
 */
export function checkAclAllowed(
  asked: AskedAcl,
  acl: Acl,
  bucket: BucketSettings & { readonly project: string },
  of: 'bucket' | 'object',
): void {
  if (aclsAreOff(bucket)) {
    const isRefused =
      'canned' in asked
        ? asked.canned !== 'bucket-owner-full-control' && !(of === 'bucket' && asked.canned === 'private')
        : !isOwnersAlone(acl, bucket.project);
    if (isRefused) throw new S3Error('AccessControlListNotSupported');
  }
  if (bucket.publicAccessBlock?.blockPublicAcls && acl.some(isPublicGrant)) throw new S3Error('AccessDenied');
}

/**
 * Refuses to turn ACLs off for a bucket whose own ACL grants something to others than its owner.
 * @throws S3Error InvalidBucketAclWithObjectOwnership
 */
export function checkOwnershipAllows(ownership: ObjectOwnership | undefined, acl: Acl, owner: string): void {
  if (!aclsAreOff({ objectOwnership: ownership }) || acl.every(({ grantee }) => isOf(grantee, owner))) return;
  throw new S3Error('InvalidBucketAclWithObjectOwnership');
}

function isOf(grantee: Acl[number]['grantee'], project: string): boolean {
  return 'project' in grantee && grantee.project === project;
}
