import { resolveAcl, type AskedAcl, type ResolvedAcl } from '../../access/acl-headers.ts';
import { cannedAcl } from '../../access/acl.ts';
import type { Bucket } from '../../metadata/buckets/bucket.ts';
import type { ObjectAttributes } from '../../metadata/objects/object-attributes.ts';
import { grantsOf } from './acl-document.ts';
import { checkAclAllowed } from './acl-restrictions.ts';
import type { Services } from '../operation.ts';

/** The ACL that a request asks for, its grantees found; private if it asks for none. @throws S3Error as resolveAcl does */
export async function findGrantees(
  asked: AskedAcl | undefined,
  { projects, settings }: Pick<Services, 'projects' | 'settings'>,
): Promise<ResolvedAcl> {
  if (asked === undefined) return (owner, bucketOwner) => cannedAcl('private', owner, bucketOwner);
  const { allUsersGroupUri, limits } = settings;
  return resolveAcl(asked, projects, { allUsersGroupUri, maximumGrants: limits.grantsPerAcl });
}

/**
 * The grants of an object that is about to be written, for its objectAttributes.
 * @param owner whose it will be
 * @throws S3Error as resolveAcl does, and as checkAclAllowed
 */
export async function grantsOfUpload(
  asked: AskedAcl | undefined,
  owner: string,
  bucket: Bucket,
  deps: Pick<Services, 'projects' | 'settings'>,
): Promise<Pick<ObjectAttributes, 'grants'>> {
  if (asked === undefined) return {};
  const acl = (await findGrantees(asked, deps))(owner, bucket.project);
  checkAclAllowed(asked, acl, bucket, 'object');
  return grantsOf(acl, owner);
}
