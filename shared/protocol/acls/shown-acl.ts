import { uriOf, type Acl, type Permission } from '../../access/acl.ts';
import type { Projects } from '../../access/identity.ts';
import { compareUtf8 } from '../../ports/utf8-order.ts';
import type { ShownGrant } from '../../xml/acl.ts';
import type { Owner } from '../../xml/owner.ts';
import { ownersOf } from './owners.ts';

const order: readonly string[] = [
  'READ',
  'WRITE',
  'READ_ACP',
  'WRITE_ACP',
  'FULL_CONTROL',
] satisfies readonly Permission[];

/** Orders grants as Ceph RGW does: groups by URI, then projects by id, each with its permissions in a fixed order. */
function compareGrants(a: ShownGrant, b: ShownGrant): number {
  const [uriA, uriB] = [a, b].map(({ grantee }) => ('uri' in grantee ? grantee.uri : undefined));
  if ((uriA === undefined) !== (uriB === undefined)) return uriA === undefined ? 1 : -1;
  const [nameA, nameB] = [a, b].map(({ grantee }) => ('uri' in grantee ? grantee.uri : grantee.id));
  return compareUtf8(nameA!, nameB!) || order.indexOf(a.permission) - order.indexOf(b.permission);
}

/** Returns an ACL as shown in responses, with the names of its projects. */
export async function shownAcl(
  acl: Acl,
  owner: string,
  projects: Projects,
  allUsersGroupUri: string,
): Promise<{ readonly owner: Owner; readonly grants: readonly ShownGrant[] }> {
  const ids = acl.flatMap(({ grantee }) => ('project' in grantee ? [grantee.project] : []));
  const nameOf = await ownersOf([owner, ...ids], projects);
  return {
    owner: nameOf(owner),
    grants: acl
      .map(({ grantee, permission }) => ({
        permission,
        grantee: 'project' in grantee ? nameOf(grantee.project) : { uri: uriOf(grantee.group, allUsersGroupUri) },
      }))
      .toSorted(compareGrants),
  };
}
