import type { Account, IdentityRights } from '../access/identity.ts';
import type { Attribute, Attributes, Change, ItemKey, KeyValueTable } from '../ports/key-value-table.ts';
import { accountKey, accountKeyParts, accountPrefix } from '../storage/table/keys/account-keys.ts';
import { decodeStored, decodeUserId, everyItem, pathOf, removed, revised } from './account-items.ts';
import { awsPolicies, awsPolicyPath } from './aws-policies.ts';
import { decodeCarriedByRole, decodeCarriedByUser, readRights, type CarriedByUser } from './identity-items.ts';

/** What IAM has names for. */
interface Named {
  readonly key: ItemKey;
  /** As stored. */
  readonly item: Attributes;
  readonly name: string;
  readonly path: string;
  readonly id: string;
  /** In milliseconds since the epoch. */
  readonly created: number;
  readonly tags: Tags;
}

export type Tags = readonly (readonly [key: string, value: string])[];
export type CarrierKind = 'user' | 'group' | 'role';

/** What carries policies. */
export interface Carrier extends Named, CarriedByUser {
  readonly kind: CarrierKind;
}

/** A managed policy. */
export interface ManagedPolicy extends Named {
  readonly kind: 'policy';
  /** How users, groups and roles refer to it. */
  readonly ref: string;
  readonly arn: string;
  /** It is one of AWS's, which every project has. */
  readonly isShared: boolean;
  readonly versions: Readonly<Record<string, PolicyVersion>>;
  /** The id of the version that is in force. */
  readonly inForce: string;
  readonly updated: number;
  readonly description: string | undefined;
}

/** What of a version is stored: not an interface, so that the table can be seen to store it. */
type PolicyVersion = Readonly<{ text: string; created: number }>;

/** An OpenID Connect provider, whose tokens roles may trust. */
export interface Provider {
  readonly kind: 'provider';
  readonly key: ItemKey;
  readonly item: Attributes;
  /** Its URL without the scheme. */
  readonly name: string;
  readonly arn: string;
  readonly created: number;
  readonly tags: Tags;
  /** The audiences of its tokens that are accepted. */
  readonly clients: readonly string[];
  readonly thumbprints: readonly string[];
}

export type Entry = Carrier | ManagedPolicy;
type EntryKind = (Entry | Provider)['kind'];

/** An access key in the list of its user. */
interface ListedKey {
  readonly id: string;
  readonly created: number;
  readonly isActive: boolean;
  readonly item: Attributes;
}

const prefixes: Readonly<Record<Entry['kind'], string>> = {
  user: accountPrefix.users,
  group: accountPrefix.groups,
  policy: accountPrefix.policies,
  role: accountPrefix.roles,
};

/** Attributes to change; those that are undefined are removed. */
type Patch = { readonly [name: string]: Attribute | undefined };

/** Everybody and everything in one account, as IAM sees it, and what a request is about to change of it. */
export class Directory {
  readonly account: Account;
  readonly #table: KeyValueTable;
  readonly #token: () => string;
  readonly #changes: Change[] = [];

  constructor(table: KeyValueTable, account: Account, token: () => string) {
    this.#table = table;
    this.account = account;
    this.#token = token;
  }

  /** What is to be written, all or nothing. */
  get changes(): readonly Change[] {
    return this.#changes;
  }

  /** Returns all carriers of a kind, without root. */
  async carriers(kind: CarrierKind): Promise<readonly Carrier[]> {
    const items = await everyItem(this.#table, accountKey.project(this.account.id).pk, prefixes[kind]);
    const found = items.map(({ key, attributes }) => this.#carrier(kind, key, attributes));
    return found.filter((one) => !this.isRoot(one));
  }

  /** Returns a carrier by its name. */
  async carrier(kind: CarrierKind, name: string): Promise<Carrier | undefined> {
    if (kind === 'group') return (await this.carriers('group')).find((group) => group.name === name);
    const key = kind === 'user' ? accountKey.user(this.account.id, name) : accountKey.role(this.account.id, name);
    const item = await this.#table.get(key);
    return item && this.#carrier(kind, key, item);
  }

  isRoot({ kind, name }: Pick<Carrier, 'kind' | 'name'>): boolean {
    return kind === 'user' && name === this.account.root;
  }

  /** Returns the project's own managed policies. */
  async policies(): Promise<readonly ManagedPolicy[]> {
    const items = await everyItem(this.#table, accountKey.project(this.account.id).pk, accountPrefix.policies);
    return items.map(({ key, attributes }) => this.#policy(key, attributes));
  }

  /** Returns AWS's managed policies. */
  sharedPolicies(): readonly ManagedPolicy[] {
    return [...awsPolicies.keys()].map((name) => sharedPolicy(name)!);
  }

  /** Returns a managed policy by its ARN, or by the name that carriers have for it. */
  async policy(named: { readonly arn: string } | { readonly ref: string }): Promise<ManagedPolicy | undefined> {
    const ref = 'ref' in named ? named.ref : refOf(named.arn);
    if (ref.startsWith(sharedPrefix)) {
      const found = sharedPolicy(ref.slice(sharedPrefix.length));
      return 'ref' in named || found?.arn === named.arn ? found : undefined;
    }
    const key = accountKey.policy(this.account.id, ref);
    const item = ref === '' || ref.includes('/') ? undefined : await this.#table.get(key);
    const found = item && this.#policy(key, item);
    return 'ref' in named || found?.arn === named.arn ? found : undefined;
  }

  /** Returns all that a managed policy is attached to, or is the boundary of. */
  async usersOf({ ref }: ManagedPolicy): Promise<{ attached: readonly Carrier[]; bounded: readonly Carrier[] }> {
    const kinds = ['user', 'group', 'role'] as const;
    const all = (await Promise.all(kinds.map((kind) => this.carriers(kind)))).flat();
    return {
      attached: all.filter(({ attached }) => attached.includes(ref)),
      bounded: all.filter(({ boundary }) => boundary === ref),
    };
  }

  /** Returns the OpenID Connect providers. */
  async providers(): Promise<readonly Provider[]> {
    const items = await everyItem(this.#table, accountKey.project(this.account.id).pk, accountPrefix.providers);
    return items.map(({ key, attributes }) => this.#provider(key, attributes));
  }

  /** Returns an OpenID Connect provider by its ARN. */
  async provider(arn: string): Promise<Provider | undefined> {
    const prefix = this.providerArn('');
    const name = arn.startsWith(prefix) ? arn.slice(prefix.length) : '';
    const key = accountKey.provider(this.account.id, name);
    const item = name === '' || name.length > longestUrl ? undefined : await this.#table.get(key);
    return item && this.#provider(key, item);
  }

  /** Returns the ARN of a provider, whether it is there or not. @param name its URL without the scheme */
  providerArn(name: string): string {
    return `arn:aws:iam::${this.account.accountNumber}:oidc-provider/${name}`;
  }

  /** Returns what a user, group or role may do. */
  rightsOf(carrier: Carrier): Promise<IdentityRights> {
    return readRights(this.#table, this.account.id, carrier, this.isRoot(carrier));
  }

  /** Returns the keys of a user. */
  async keys(user: string): Promise<readonly ListedKey[]> {
    const { id } = this.account;
    const listed = await everyItem(this.#table, accountKey.project(id).pk, accountPrefix.keysOf(user));
    const keys = await Promise.all(
      listed.map(async ({ key }) => {
        const keyId = accountKeyParts.usersKey(key);
        const item = await this.#table.get(accountKey.accessKey(keyId));
        const isActive = item?.['inactive'] !== true;
        return item ? [{ id: keyId, created: decodeStored(item).created, isActive, item }] : [];
      }),
    );
    return keys.flat();
  }

  /** Returns the name of the user whose key this is, if it is of this account. */
  async ownerOf(accessKeyId: string): Promise<string | undefined> {
    const item = await this.#table.get(accountKey.accessKey(accessKeyId));
    return item?.['project'] === this.account.id ? (item['user'] as string) : undefined;
  }

  /** Returns the key of a new entry. @param id the name, or of a group its id */
  newKey(kind: EntryKind, id: string): ItemKey {
    return accountKey[kind](this.account.id, id);
  }

  addKey(id: string, item: Patch & { readonly user: string; readonly created: number }): void {
    this.add(accountKey.accessKey(id), item);
    this.add(accountKey.usersKey(this.account.id, item.user, id), { created: item.created });
  }

  changeKey({ id, item }: ListedKey, patch: Patch): void {
    this.change({ key: accountKey.accessKey(id), item }, patch);
  }

  removeKey({ id, item }: ListedKey, user: string): void {
    this.remove({ key: accountKey.accessKey(id), item });
    this.forgetUse(id);
    this.#changes.push({ key: accountKey.usersKey(this.account.id, user, id), delete: true });
  }

  /** Removes what is known of the use of a key or a role. */
  forgetUse(id: string): void {
    this.#changes.push({ key: accountKey.lastUse(id), delete: true });
  }

  /** Gives a key to the same user under another name. */
  moveKey(key: ListedKey, from: string, to: string): void {
    this.changeKey(key, { user: to });
    this.#changes.push({ key: accountKey.usersKey(this.account.id, from, key.id), delete: true });
    this.add(accountKey.usersKey(this.account.id, to, key.id), { created: key.created });
  }

  /** Adds an item that must not be there yet. */
  add(key: ItemKey, patch: Patch): void {
    const put = { ...defined(patch), r: this.#token() };
    this.#changes.push({ key, put, expect: { is: 'absent' } });
  }

  change({ key, item }: { readonly key: ItemKey; readonly item: Attributes }, patch: Patch): void {
    this.#changes.push(revised(key, item, { ...defined({ ...item, ...patch }), r: this.#token() }));
  }

  /** Returns what a change or an addition will leave. */
  renewed(kind: 'user' | 'group' | 'role', key: ItemKey): Carrier {
    return this.#carrier(kind, key, this.#staged(key));
  }

  renewedPolicy(key: ItemKey): ManagedPolicy {
    return this.#policy(key, this.#staged(key));
  }

  remove({ key, item }: { readonly key: ItemKey; readonly item: Attributes }): void {
    this.#changes.push(removed(key, item));
  }

  #staged({ sk }: ItemKey): Attributes {
    const found = this.#changes.find((one) => one.key.sk === sk);
    if (found === undefined || !('put' in found)) throw new Error(`nothing was said of ${sk}`);
    return found.put;
  }

  #carrier(kind: CarrierKind, key: ItemKey, item: Attributes): Carrier {
    const name = kind === 'group' ? (item['name'] as string) : accountKeyParts.named(key);
    const id = kind === 'user' ? decodeUserId(this.account.id, name, item) : (item['id'] as string);
    const carried = kind === 'user' ? decodeCarriedByUser(item) : decodeCarriedByRole(item);
    return { ...carried, kind, ...named(key, item, name, id) };
  }

  #provider(key: ItemKey, item: Attributes): Provider {
    const name = accountKeyParts.named(key);
    return {
      kind: 'provider',
      key,
      item,
      name,
      arn: this.providerArn(name),
      created: decodeStored(item).created,
      tags: (item['tags'] as Tags | undefined) ?? [],
      clients: item['clients'] as readonly string[],
      thumbprints: item['thumbprints'] as readonly string[],
    };
  }

  #policy(key: ItemKey, item: Attributes): ManagedPolicy {
    const name = accountKeyParts.named(key);
    const common = named(key, item, name, item['id'] as string);
    return {
      kind: 'policy',
      ref: name,
      arn: `arn:aws:iam::${this.account.accountNumber}:policy${common.path}${name}`,
      isShared: false,
      versions: item['versions'] as ManagedPolicy['versions'],
      inForce: item['default'] as string,
      updated: item['updated'] as number,
      description: item['description'] as string | undefined,
      ...common,
    };
  }
}

const longestUrl = 255;
const sharedPrefix = 'aws/';
const sharedSince = Date.UTC(2015, 1, 6);

function sharedPolicy(name: string): ManagedPolicy | undefined {
  const text = awsPolicies.get(name);
  if (text === undefined) return undefined;
  return {
    kind: 'policy',
    key: accountKey.policy('aws', name),
    item: {},
    name,
    path: '/',
    id: `POLICY${name.toUpperCase()}`,
    created: sharedSince,
    updated: sharedSince,
    tags: [],
    ref: sharedPrefix + name,
    arn: awsPolicyPath + name,
    isShared: true,
    versions: { v1: { text, created: sharedSince } },
    inForce: 'v1',
    description: undefined,
  };
}

/** Returns how carriers refer to the policy of an ARN, if there is one. */
function refOf(arn: string): string {
  const name = arn.slice(arn.lastIndexOf('/') + 1);
  return arn.startsWith(awsPolicyPath) ? sharedPrefix + name : name;
}

function named(key: ItemKey, item: Attributes, name: string, id: string): Named {
  const { created } = decodeStored(item);
  return { key, item, name, path: pathOf(item), id, created, tags: (item['tags'] as Tags | undefined) ?? [] };
}

function defined(patch: Patch): Attributes {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as Attributes;
}
