import { cannedAcl, isOwnersAlone, isPublicGrant, type Acl } from '../../access/acl.ts';
import type { AskedAcl } from '../../access/acl-headers.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { BucketSettings, ObjectOwnership } from '../../storage/buckets/bucket-settings.ts';

/*
 * The effect of a bucket's settings on ACLs:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/about-object-ownership.html
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html
 */

/** Tells whether ACLs are disabled for a bucket and its objects. */
function aclsAreOff({ objectOwnership }: BucketSettings): boolean {
  return objectOwnership === 'BucketOwnerEnforced';
}

/**
 * Returns the grants that have an effect with these bucket settings. The others are still listed, unless ACLs are
 * disabled.
 */
export function countingGrants(acl: Acl, bucket: BucketSettings): Acl {
  if (aclsAreOff(bucket)) return [];
  return bucket.publicAccessBlock?.ignorePublicAcls ? acl.filter((grant) => !isPublicGrant(grant)) : acl;
}

/** Returns an ACL as shown: where ACLs are disabled, only the bucket's owner has full control. */
export function aclToShow(acl: Acl, bucket: BucketSettings & { readonly project: string }): Acl {
  return aclsAreOff(bucket) ? cannedAcl('private', bucket.project, bucket.project) : acl;
}

/**
 * Checks whether a bucket's settings allow an ACL in a request.
 * @param asked the ACL as requested: where ACLs are disabled, `private` would not make the bucket's owner the owner of
 *   an upload
 * @param acl the resulting grants
 * @throws S3Error AccessControlListNotSupported, AccessDenied (public ACLs are blocked)
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
 * Refuses to disable ACLs for a bucket whose own ACL grants permissions to others than its owner.
 * @throws S3Error InvalidBucketAclWithObjectOwnership
 */
export function checkOwnershipAllows(ownership: ObjectOwnership | undefined, acl: Acl, owner: string): void {
  if (!aclsAreOff({ objectOwnership: ownership }) || acl.every(({ grantee }) => isOf(grantee, owner))) return;
  throw new S3Error('InvalidBucketAclWithObjectOwnership');
}

function isOf(grantee: Acl[number]['grantee'], project: string): boolean {
  return 'project' in grantee && grantee.project === project;
}
