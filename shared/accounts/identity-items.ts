import {
  fullAccess,
  fullAccessText,
  fullRights,
  parseIdentityPolicy,
  rootAccess,
  rootRights,
} from '../access/identity-rights.ts';
import type { IdentityRights } from '../access/identity.ts';
import type { IdentityPolicy } from '../access/policies/policy-rule.ts';
import type { Attributes, ItemKey } from '../ports/key-value-table.ts';
import { accountKey } from '../storage/table/keys/account-keys.ts';
import { awsPolicies } from './aws-policies.ts';
import type { ItemReader } from './remembered-policies.ts';

/** The name of the managed policy that users have unless others are attached. */
const fullAccessRef = 'aws/FullAccess';

/** The policies that a user or a group carries, as stored with it. */
interface Carried {
  /** The texts of inline policies, by name. */
  readonly inline: Readonly<Record<string, string>>;
  /** The managed policies: the name of one of the project's, or `aws/<name>`. */
  readonly attached: readonly string[];
}

/** What a user or a role has besides. Roles are in no groups. */
export interface CarriedByUser extends Carried {
  /** Their ids. */
  readonly groups: readonly string[];
  /** The managed policy that is the permissions boundary, named as those attached. */
  readonly boundary: string | undefined;
}

/** Returns what a group carries. */
function decodeCarried(item: Attributes): Carried {
  return {
    inline: (item['inline'] as Readonly<Record<string, string>> | undefined) ?? {},
    attached: (item['attached'] as readonly string[] | undefined) ?? [],
  };
}

/** Returns what a user carries: `FullAccess`, unless something else was ever said. */
export function decodeCarriedByUser(item: Attributes): CarriedByUser {
  return {
    ...decodeCarried(item),
    attached: (item['attached'] as readonly string[] | undefined) ?? [fullAccessRef],
    groups: (item['groups'] as readonly string[] | undefined) ?? [],
    boundary: item['boundary'] as string | undefined,
  };
}

/** Returns what a role carries. */
export function decodeCarriedByRole(item: Attributes): CarriedByUser {
  return { ...decodeCarried(item), groups: [], boundary: item['boundary'] as string | undefined };
}

/** Tells whether a user could become root: nothing limits it. */
export function mayBeRoot(item: Attributes): boolean {
  const { attached, boundary } = decodeCarriedByUser(item);
  return attached.includes(fullAccessRef) && boundary === undefined;
}

/** Returns the attributes of what changes of a user's policies change. */
export function carriedByUser({ attached, inline }: Pick<CarriedByUser, 'attached' | 'inline'>): Attributes {
  return { attached, inline };
}

/** The text of the version of a managed policy that is in force. */
function textInForce(item: Attributes): string {
  const versions = item['versions'] as Readonly<Record<string, { readonly text: string }>>;
  return versions[item['default'] as string]!.text;
}

/**
 * Reads the rights of a user or a role: nothing more than what it carries, unless managed policies of the project or groups are among them. What refers to
 * a policy or a group that is not there carries nothing, and denies everything if it is a boundary.
 *
 * The root of an account may do all of IAM besides, as long as it has `FullAccess`.
 *
 * Every change of a policy or a group gives the project's item another write token, so that whoever commits on condition that user and project
 * are as they were need not ask for these.
 */
export async function readRights(
  table: ItemReader,
  project: string,
  { inline, attached, groups, boundary }: CarriedByUser,
  isRoot = false,
): Promise<IdentityRights> {
  const administers = isRoot && attached.includes(fullAccessRef);
  const isPlain = attached.length === 1 && attached[0] === fullAccessRef && boundary === undefined;
  if (isPlain && groups.length === 0 && Object.keys(inline).length === 0) {
    return administers ? rootRights : fullRights;
  }
  const groupItems = await readAll(
    table,
    groups.map((id) => accountKey.group(project, id)),
  );
  const carriers = [{ inline, attached }, ...groupItems.flatMap((item) => (item ? [decodeCarried(item)] : []))];
  const refs = [...carriers.flatMap((one) => one.attached), ...(boundary === undefined ? [] : [boundary])];
  const own = [...new Set(refs.filter((ref) => !ref.startsWith('aws/')))];
  const items = await readAll(
    table,
    own.map((name) => accountKey.policy(project, name)),
  );
  const managed = (ref: string): readonly IdentityPolicy[] => {
    const item = items[own.indexOf(ref)];
    const text = ref.startsWith('aws/') ? awsPolicies.get(ref.slice('aws/'.length)) : item && textInForce(item);
    return text === undefined ? [] : [parsed(text)];
  };
  return {
    policies: [
      ...carriers.flatMap((one) => [...Object.values(one.inline).map(parsed), ...one.attached.flatMap(managed)]),
      ...(administers ? [rootAccess] : []),
    ],
    boundary: boundary === undefined ? undefined : (managed(boundary)[0] ?? nothing),
    session: undefined,
  };
}

async function readAll(table: ItemReader, keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
  const found: (Attributes | undefined)[] = [];
  for (let at = 0; at < keys.length; at += 10) found.push(...(await table.getTogether(keys.slice(at, at + 10))));
  return found;
}

const nothing: IdentityPolicy = { statements: [] };

/** The parsed policies by their texts, so that an unchanged policy stays the same object. */
const known = new Map<string, IdentityPolicy>();
const maxKnown = 1000;

export function parsed(text: string): IdentityPolicy {
  if (text === fullAccessText) return fullAccess;
  const found = known.get(text) ?? parseIdentityPolicy(text);
  if (known.size >= maxKnown) known.clear();
  known.set(text, found);
  return found;
}
