import { resolveAcl, type AskedAcl, type ResolvedAcl } from '../../access/acl-headers.ts';
import { cannedAcl } from '../../access/acl.ts';
import type { Bucket } from '../../storage/buckets/bucket.ts';
import type { ObjectAttributes } from '../../storage/versions/object-attributes.ts';
import { grantsOf } from './acl-document.ts';
import { checkAclAllowed } from './acl-restrictions.ts';
import type { Services } from '../operation.ts';

/** Resolves the ACL in a request, which is private by default. @throws S3Error as resolveAcl does */
export async function findGrantees(
  asked: AskedAcl | undefined,
  { projects, settings }: Pick<Services, 'projects' | 'settings'>,
): Promise<ResolvedAcl> {
  if (asked === undefined) return (owner, bucketOwner) => cannedAcl('private', owner, bucketOwner);
  const { allUsersGroupUri, limits } = settings;
  return resolveAcl(asked, projects, { allUsersGroupUri, maximumGrants: limits.grantsPerAcl });
}

/**
 * Returns the grants of a new object, for its attributes.
 * @param owner of the new object
 * @throws S3Error as resolveAcl and checkAclAllowed do
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
