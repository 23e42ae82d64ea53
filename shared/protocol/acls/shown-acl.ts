import { uriOf, type Acl, type Permission } from '../../access/acl.ts';
import type { Projects } from '../../access/identity.ts';
import type { Grantee, ShownAcl, WrittenGrant } from '../../documents/acl.ts';
import { compareUtf8 } from '../../ports/utf8-order.ts';
import { EventLoopBudget } from '../../ports/event-loop.ts';
import { ownersOf } from './owners.ts';

const order: readonly string[] = [
  'READ',
  'WRITE',
  'READ_ACP',
  'WRITE_ACP',
  'FULL_CONTROL',
] satisfies readonly Permission[];

/** Orders grants as Ceph RGW does: groups by URI, then projects by id, each with its permissions in a fixed order. */
function compareGrants(a: WrittenGrant, b: WrittenGrant): number {
  if (a.grantee.by !== b.grantee.by) return a.grantee.by === 'uri' ? -1 : 1;
  return compareUtf8(a.grantee.name, b.grantee.name) || order.indexOf(a.permission) - order.indexOf(b.permission);
}

/** The steps of naming, ordering and writing a grant: microseconds, as an event-loop budget counts them. */
const stepsPerGrant = 6;

/** Returns an ACL as written in responses, with the names of its projects. */
export async function shownAcl(
  acl: Acl,
  owner: string,
  projects: Projects,
  allUsersGroupUri: string,
): Promise<ShownAcl> {
  const ids = acl.flatMap(({ grantee }) => ('project' in grantee ? [grantee.project] : []));
  const nameOf = await ownersOf([owner, ...ids], projects);
  const granteeOf = (grantee: Acl[number]['grantee']): Grantee =>
    'project' in grantee
      ? { by: 'id', name: grantee.project, displayName: nameOf(grantee.project).displayName }
      : { by: 'uri', name: uriOf(grantee.group, allUsersGroupUri) };
  const budget = new EventLoopBudget();
  const grants = await budget.map(acl, stepsPerGrant, ({ grantee, permission }) => ({
    permission,
    grantee: granteeOf(grantee),
  }));
  return { owner: nameOf(owner), grants: grants.toSorted(compareGrants) };
}
