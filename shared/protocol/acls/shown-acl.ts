import { uriOf, type Acl } from '../../access/acl.ts';
import type { Projects } from '../../access/identity.ts';
import type { ShownGrant } from '../../xml/acl.ts';
import type { Owner } from '../../xml/owner.ts';
import { ownersOf } from './owners.ts';

/** An ACL as answers show it, with the names of its projects. */
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
    grants: acl.map(({ grantee, permission }) => ({
      permission,
      grantee: 'project' in grantee ? nameOf(grantee.project) : { uri: uriOf(grantee.group, allUsersGroupUri) },
    })),
  };
}
