import { uriOf, type Acl, type Permission } from '../../access/acl.ts';
import type { Projects } from '../../access/identity.ts';
import { compareUtf8 } from '../../ports/utf8-order.ts';
import { EventLoopBudget } from '../../ports/event-loop.ts';
import { aclWriting, type ShownGrant } from '../../xml/acl.ts';
import type { Owner } from '../../xml/owner.ts';
import type { Markup } from '../../xml/writer.ts';
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

/** The steps of naming and ordering a grant: microseconds, as an event-loop budget counts them. */
const stepsPerGrant = 2;

/** Returns an ACL as written in responses, with the names of its projects. */
export async function shownAcl(
  acl: Acl,
  owner: string,
  projects: Projects,
  allUsersGroupUri: string,
): Promise<{ readonly owner: Owner; readonly grants: readonly Markup[] }> {
  const ids = acl.flatMap(({ grantee }) => ('project' in grantee ? [grantee.project] : []));
  const nameOf = await ownersOf([owner, ...ids], projects);
  const budget = new EventLoopBudget();
  const grants = await budget.map(acl, stepsPerGrant, ({ grantee, permission }) => ({
    permission,
    grantee: 'project' in grantee ? nameOf(grantee.project) : { uri: uriOf(grantee.group, allUsersGroupUri) },
  }));
  return { owner: nameOf(owner), grants: await budget.run(aclWriting(grants.toSorted(compareGrants))) };
}
