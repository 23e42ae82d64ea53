import { cannedAcl, decodeAcl, encodeAcl, type Acl } from '../../access/acl.ts';
import type { Bucket } from '../../metadata/buckets/bucket.ts';
import type { Buckets } from '../../metadata/buckets/buckets.ts';
import type { ObjectAttributes } from '../../metadata/objects/object-attributes.ts';
import type { Attributes } from '../../ports/key-value-table.ts';

/** The ACL of a bucket; one that was never given an ACL is private. */
export async function bucketAcl(bucket: Bucket, buckets: Buckets): Promise<Acl> {
  const document = await buckets.documents.of(bucket, 'acl');
  return document === undefined
    ? cannedAcl('private', bucket.project, bucket.project)
    : decodeAcl(document['grants'] as readonly string[]);
}

/** What {@link bucketAcl} reads, to be set as the bucket's document `acl`. */
export function aclDocument(acl: Acl): Attributes {
  return { grants: encodeAcl(acl) };
}

/** The ACL of a version; one whose objectAttributes name no grants is private. */
export function versionAcl({ grants }: ObjectAttributes, owner: string): Acl {
  return grants === undefined ? cannedAcl('private', owner, owner) : decodeAcl(grants);
}

/** An ACL as the objectAttributes of a version have it: nothing, if it is private. */
export function grantsOf(acl: Acl, owner: string): Pick<ObjectAttributes, 'grants'> {
  const stored = encodeAcl(acl);
  const isPrivate = stored.length === 1 && stored[0] === encodeAcl(cannedAcl('private', owner, owner))[0];
  return isPrivate ? {} : { grants: stored };
}
