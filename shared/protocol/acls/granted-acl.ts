import { resolveAcl, type AskedAcl, type ResolvedAcl } from '../../access/acl-headers.ts';
import { cannedAcl } from '../../access/acl.ts';
import type { Bucket } from '../../metadata/buckets/bucket.ts';
import type { Particulars } from '../../metadata/objects/versions.ts';
import { grantsOf } from './acl-document.ts';
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
 * The grants of an object that is about to be written, for its particulars.
 * @param owner whose it will be
 * @throws S3Error as resolveAcl does
 */
export async function grantsOfUpload(
  asked: AskedAcl | undefined,
  owner: string,
  bucket: Bucket,
  rooms: Pick<Services, 'projects' | 'settings'>,
): Promise<Pick<Particulars, 'grants'>> {
  if (asked === undefined) return {};
  const acl = await findGrantees(asked, rooms);
  return grantsOf(acl(owner, bucket.project), owner);
}
