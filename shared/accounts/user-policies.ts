import { AccountRefusal } from '../access/account-names.ts';
import { parseIdentityPolicy } from '../access/identity-rights.ts';
import type { Attributes, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import { accountKey } from '../storage/table/keys/account-keys.ts';
import { requireLayout, identityLayout } from '../storage/table/layout.ts';
import { refuse, type Administration } from './administration.ts';
import { awsPolicies } from './aws-policies.ts';
import { carriedByUser, decodeCarriedByUser, type CarriedByUser } from './identity-items.ts';

/** A policy of a user: an inline one, or a managed one that is attached. */
export interface PolicyOfUser {
  readonly policy: string;
  readonly kind: 'inline' | 'managed';
}

/** As in AWS: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html */
const maxAttached = 10;
const maxInlineCharacters = 2048;

/** The policies of users. Throws {@link AccountRefusal} if an action is not possible. */
export class UserPolicies {
  readonly #deps: { readonly table: KeyValueTable; readonly randomness: Randomness };
  readonly #accounts: Administration;

  constructor(deps: { table: KeyValueTable; randomness: Randomness }, accounts: Administration) {
    this.#deps = deps;
    this.#accounts = accounts;
  }

  /** Returns the policies of a user, sorted by name. */
  async policies(user: string): Promise<readonly PolicyOfUser[]> {
    const { inline, attached } = await this.#carried(user);
    return [
      ...Object.keys(inline).map((policy) => ({ policy, kind: 'inline' as const })),
      ...attached.map((ref) => ({ policy: nameOf(ref), kind: 'managed' as const })),
    ].toSorted((a, b) => (a.policy < b.policy ? -1 : 1));
  }

  /** Returns the text of a policy that a user has. */
  async policy(user: string, name: string): Promise<string> {
    const { inline, attached } = await this.#carried(user);
    if (Object.hasOwn(inline, name)) return inline[name]!;
    const managed = shortName(name);
    const text = attached.includes(`aws/${managed}`) ? awsPolicies.get(managed) : undefined;
    return text ?? refuse(`${user} has no policy ${JSON.stringify(name)}`);
  }

  /** Gives a user an inline policy, in place of one of that name. */
  async put(user: string, name: string, text: string): Promise<void> {
    checkPolicyName(name);
    checkPolicy(text);
    await this.#change(user, (carried) => {
      const inline = { ...carried.inline, [name]: text };
      const characters = Object.values(inline).join('').replaceAll(/\s/g, '').length;
      if (characters > maxInlineCharacters) {
        refuse(`the inline policies of ${user} would have ${characters} characters, of ${maxInlineCharacters}`);
      }
      return { ...carried, inline };
    });
  }

  async remove(user: string, name: string): Promise<void> {
    await this.#change(user, (carried) => {
      if (!Object.hasOwn(carried.inline, name)) refuse(`${user} has no inline policy ${JSON.stringify(name)}`);
      const { [name]: _, ...inline } = carried.inline;
      return { ...carried, inline };
    });
  }

  /** @param policy the name or the ARN of a managed policy */
  async attach(user: string, policy: string): Promise<void> {
    const ref = existing(policy);
    await this.#change(user, (carried) => {
      const attached = [...new Set([...carried.attached, ref])];
      if (attached.length > maxAttached) refuse(`${user} has ${maxAttached} policies attached already`);
      return { ...carried, attached };
    });
  }

  async detach(user: string, policy: string): Promise<void> {
    const ref = existing(policy);
    await this.#change(user, (carried) => {
      if (!carried.attached.includes(ref)) refuse(`${nameOf(ref)} is not attached to ${user}`);
      return { ...carried, attached: carried.attached.filter((one) => one !== ref) };
    });
  }

  async #carried(user: string): Promise<CarriedByUser> {
    const { project, name } = await this.#accounts.user(user);
    const item = await this.#deps.table.get(accountKey.user(project.id, name));
    return decodeCarriedByUser(item ?? refuse(`the user ${user} does not exist`));
  }

  /** Earlier versions give every user full access, so they must not read a table in which that is not so. */
  async #change(user: string, change: (before: CarriedByUser) => CarriedByUser): Promise<void> {
    const { project, name } = await this.#accounts.user(user);
    await requireLayout(this.#deps, identityLayout);
    const changed = (item: Attributes): Attributes => ({
      ...item,
      ...carriedByUser(change(decodeCarriedByUser(item))),
    });
    await this.#accounts.change(accountKey.user(project.id, name), `the user ${user}`, changed);
  }
}

/** Returns the text if it is a policy of an identity. @throws AccountRefusal */
export function checkPolicy(text: string): string {
  try {
    parseIdentityPolicy(text);
  } catch (error) {
    throw new AccountRefusal(`the policy is not valid: ${(error as Error).message}`);
  }
  return text;
}

/** @throws AccountRefusal unless a policy may have this name */
export function checkPolicyName(name: string): void {
  if (!/^[\w+=,.@-]{1,128}$/.test(name)) {
    refuse(
      `${JSON.stringify(name)} is not a valid name of a policy: it must have 1 to 128 letters, digits or characters of "_+=,.@-"`,
    );
  }
}

function existing(policy: string): string {
  const name = shortName(policy);
  if (awsPolicies.has(name)) return `aws/${name}`;
  return refuse(
    `there is no managed policy ${JSON.stringify(policy)}; there are: ${[...awsPolicies.keys()].join(', ')}`,
  );
}

function shortName(policy: string): string {
  return policy.replace(/^arn:aws:iam::aws:policy\//, '');
}

function nameOf(ref: string): string {
  return ref.replace(/^aws\//, '');
}
