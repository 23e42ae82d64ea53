import { cannedAcl, decodeAcl, encodeAcl, type Acl } from '../../access/acl.ts';
import type { Bucket } from '../../storage/buckets/bucket.ts';
import type { Buckets } from '../../storage/buckets/buckets.ts';
import type { ObjectAttributes } from '../../storage/versions/object-attributes.ts';
import type { Attributes } from '../../ports/key-value-table.ts';

/** Reads the ACL of a bucket, which is private by default. */
export async function bucketAcl(bucket: Bucket, buckets: Buckets): Promise<Acl> {
  const document = await buckets.documents.of(bucket, 'acl');
  return document === undefined
    ? cannedAcl('private', bucket.project, bucket.project)
    : decodeAcl(document['grants'] as readonly string[]);
}

/** Returns the bucket's document `acl`, as {@link bucketAcl} reads it. */
export function aclDocument(acl: Acl): Attributes {
  return { grants: encodeAcl(acl) };
}

/** Returns the ACL of a version, which is private unless its attributes have grants. */
export function versionAcl({ grants }: ObjectAttributes, owner: string): Acl {
  return grants === undefined ? cannedAcl('private', owner, owner) : decodeAcl(grants);
}

/** Returns an ACL as object attributes: none if it is private. */
export function grantsOf(acl: Acl, owner: string): Pick<ObjectAttributes, 'grants'> {
  const stored = encodeAcl(acl);
  const isPrivate = stored.length === 1 && stored[0] === encodeAcl(cannedAcl('private', owner, owner))[0];
  return isPrivate ? {} : { grants: stored };
}
