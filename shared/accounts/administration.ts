import type { Clock } from '../ports/clock.ts';
import type { Attributes, Change, Condition, ItemKey, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import { numbered } from './account-numbers.ts';
import {
  decodePrivileges,
  decodeProjectRecord,
  decodeStored,
  everyItem,
  removed,
  revised,
  type CustomerRecord,
  userId,
  userIdBytes,
  type Part,
  type ProjectRecord,
  type UserRecord,
} from './account-items.ts';
import { carriedByUser, mayBeRoot } from './identity-items.ts';
import { identityLayout, requireLayout } from '../storage/table/layout.ts';
import { accountKey, accountKeyParts, accountPrefix } from '../storage/table/keys/account-keys.ts';
import { partitionItems } from '../storage/table/pages.ts';
import { conflict, optimistically } from '../storage/table/optimistic-write.ts';
import {
  AccountRefusal,
  checkCanonicalId,
  checkDisplayName,
  checkName,
  emailOf,
  parseProjectName,
  parseUserName,
  userNameText,
} from '../access/account-names.ts';
import { privileges, type Privilege } from '../access/identity.ts';

/**
 * The administration of customers, projects and users. Projects are named `project@customer` or by their canonical ids,
 * users `project:user@customer`. Running services see a change within the time for which they cache key lookups.
 *
 * Every method throws {@link AccountRefusal} if its action is not possible.
 */
export class Administration {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;

  constructor(deps: { table: KeyValueTable; clock: Clock; randomness: Randomness }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
  }

  /** Returns a page of the customers, sorted by name. `next` is the name of one. */
  async customerPage({ after, limit }: Part): Promise<{ customers: readonly CustomerRecord[]; next?: string }> {
    const { pk } = accountKey.listedCustomer('-');
    const { items, more } = await this.#table.query(pk, { limit, ...(after !== undefined && { after }) });
    const customers = await this.#existing(items.map(({ key }) => this.#customer(key.sk)));
    return { customers, ...(more && { next: items.at(-1)!.key.sk }) };
  }

  async customer(name: string): Promise<CustomerRecord> {
    return (await this.#customer(name)) ?? refuse(`there is no customer ${JSON.stringify(name)}`);
  }

  async createCustomer(name: string): Promise<CustomerRecord> {
    const created = this.#clock.now();
    await this.create(`the customer ${checkName('customer', name)}`, [
      { key: accountKey.customer(name), put: { created, r: this.token() }, expect: { is: 'absent' } },
      { key: accountKey.listedCustomer(name), put: { created } },
    ]);
    return { customer: name, created, suspended: false };
  }

  /** Removes a customer that has no projects. */
  async removeCustomer(name: string): Promise<void> {
    await this.customer(name);
    const projects = await this.projects(name);
    if (projects.length > 0) throw new AccountRefusal(`${name} still has ${list(projects.map(({ email }) => email))}`);
    const key = accountKey.customer(name);
    await this.repeat(async () => [
      removed(key, await this.#item(key, `the customer ${name}`)),
      { key: accountKey.listedCustomer(name), delete: true },
    ]);
  }

  async suspendCustomer(name: string, suspended: boolean): Promise<void> {
    await this.change(accountKey.customer(name), `the customer ${name}`, setSuspended(suspended));
  }

  /** Returns the projects of a customer, sorted by name. */
  async projects(customer: string): Promise<readonly ProjectRecord[]> {
    const listed = await everyItem(this.#table, accountKey.customer(customer).pk, accountPrefix.projects);
    return this.#existing(listed.map(async ({ attributes }) => this.#project(attributes['project'] as string)));
  }

  /**
   * Returns a page of the projects of a customer, or of all, sorted by customer and name. `next` and `after` are `project@customer`, or
   * `@customer` for the beginning of the customer's. A page looks at no more customers than it may have projects.
   */
  async projectPage(
    { after, limit }: Part,
    of?: string,
  ): Promise<{ projects: readonly ProjectRecord[]; next?: string }> {
    const [name = '', from = ''] = after?.split('@') ?? [];
    if (of !== undefined) {
      const { listed: _, ...page } = await this.#projectsOf(of, name, limit);
      return page;
    }
    const projects: ProjectRecord[] = [];
    let [left, customersLeft] = [limit, limit];
    const options = { limit: limit + 1, ...(from !== '' && { from }) };
    for await (const { key } of partitionItems(this.#table, accountKey.listedCustomer('-').pk, options)) {
      const customer = key.sk;
      if (left === 0 || customersLeft === 0) return { projects, next: `@${customer}` };
      const page = await this.#projectsOf(customer, customer === from ? name : '', left);
      projects.push(...page.projects);
      if (page.next !== undefined) return { projects, next: page.next };
      left -= page.listed;
      customersLeft -= 1;
    }
    return { projects };
  }

  /** @param after the name of a project; empty: from the first */
  async #projectsOf(
    customer: string,
    after: string,
    limit: number,
  ): Promise<{ projects: readonly ProjectRecord[]; listed: number; next?: string }> {
    const { items, more } = await this.#table.query(accountKey.customer(customer).pk, {
      ...{ prefix: accountPrefix.projects, limit },
      ...(after !== '' && { after: accountKey.customersProject(customer, after).sk }),
    });
    const projects = await this.#existing(
      items.map(({ attributes }) => this.#project(attributes['project'] as string)),
    );
    const last = items.at(-1);
    const next = last && emailOf({ project: accountKeyParts.customersProject(last.key), customer });
    return { projects, listed: items.length, ...(more && next !== undefined && { next }) };
  }

  /** @param name `project@customer`, or the canonical id */
  async project(name: string): Promise<ProjectRecord> {
    const id = name.includes('@') ? await this.#idOf(name) : name;
    return (await this.#project(id)) ?? refuse(`there is no project ${JSON.stringify(name)}`);
  }

  /**
   * Creates a project of an existing customer.
   * @param given the canonical id, by default a new UUID, and the display name, by default the name of the project
   */
  async createProject(name: string, given: { id?: string; displayName?: string } = {}): Promise<ProjectRecord> {
    const { customer, project } = parseProjectName(name);
    const id = checkCanonicalId(given.id ?? uuid(this.#randomness));
    const displayName = checkDisplayName(given.displayName ?? project);
    await this.customer(customer);
    const created = this.#clock.now();
    await this.create(
      `the project ${name}, or another one with the id ${id},`,
      [
        {
          key: accountKey.project(id),
          put: { email: name, displayName, customer, created, r: this.token() },
          expect: { is: 'absent' },
        },
        { key: accountKey.email(name), put: { project: id }, expect: { is: 'absent' } },
        { key: accountKey.customersProject(customer, project), put: { project: id } },
      ],
      [{ key: accountKey.customer(customer), expect: { is: 'present' } }],
    );
    return this.project(id);
  }

  /**
   * Removes a project that has no users and no buckets.
   * @param ownsNothing returns the condition that a project owns no bucket
   */
  async removeProject(name: string, ownsNothing: (projectId: string) => Condition): Promise<void> {
    const { id, email, customer } = await this.project(name);
    const users = await this.users(id);
    if (users.length > 0)
      throw new AccountRefusal(`${email} still has the users ${list(users.map(({ user }) => user))}`);
    const key = accountKey.project(id);
    await this.repeat(
      async () => {
        const item = await this.#item(key, `the project ${email}`);
        const number = item['number'] as string | undefined;
        return [
          removed(key, item),
          { key: accountKey.email(email), delete: true },
          { key: accountKey.customersProject(customer, parseProjectName(email).project), delete: true },
          ...(number === undefined ? [] : [{ key: accountKey.number(number), delete: true as const }]),
        ];
      },
      [ownsNothing(id)],
      `${email} still owns buckets; remove them first`,
    );
  }

  async suspendProject(name: string, suspended: boolean): Promise<void> {
    await this.#changeProject(name, setSuspended(suspended));
  }

  /** @param buckets the maximum number of buckets; undefined: the deployment's limit applies */
  async setBucketQuota(name: string, buckets: number | undefined): Promise<void> {
    await this.#changeProject(name, ({ buckets: _, ...others }) =>
      buckets === undefined ? others : { ...others, buckets },
    );
  }

  /** Makes a user the root of its project: for IAM, the one who may do all of it. */
  async setRoot(name: string): Promise<void> {
    const { project, name: root } = await this.user(name);
    const item = await this.#item(accountKey.user(project.id, root), `the user ${name}`);
    if (!mayBeRoot(item))
      refuse(`${name} is limited: the root of a project has FullAccess, and no permissions boundary`);
    await this.#changeProject(project.id, (before) => ({ ...before, root }));
  }

  /** Returns the users of a project, sorted by name. */
  async users(project: string): Promise<readonly UserRecord[]> {
    const owner = await this.project(project);
    const items = await everyItem(this.#table, accountKey.project(owner.id).pk, accountPrefix.users);
    return items.map(({ key, attributes }) => userRecord(owner, accountKeyParts.user(key), attributes));
  }

  /** Returns a page of the users of a project, sorted by name. `next` is the name of one within the project. */
  async userPage(project: string, { after, limit }: Part): Promise<{ users: readonly UserRecord[]; next?: string }> {
    const owner = await this.project(project);
    const { items, more } = await this.#table.query(accountKey.project(owner.id).pk, {
      ...{ prefix: accountPrefix.users, limit },
      ...(after !== undefined && { after: accountKey.user(owner.id, after).sk }),
    });
    const users = items.map(({ key, attributes }) => userRecord(owner, accountKeyParts.user(key), attributes));
    return { users, ...(more && { next: users.at(-1)!.name }) };
  }

  async user(name: string): Promise<UserRecord> {
    const { user, ...names } = parseUserName(name);
    const project = await this.project(emailOf(names));
    const item = await this.#item(accountKey.user(project.id, user), `the user ${name}`);
    return userRecord(project, user, item);
  }

  /** @param only the one policy of the user, inline under the name `access`. Default: `FullAccess` */
  async createUser(name: string, lacks: readonly Privilege[] = [], only?: string): Promise<UserRecord> {
    const { user, ...names } = parseUserName(name);
    checkName('user', user);
    const project = await this.project(emailOf(names));
    if (only !== undefined) await requireLayout({ table: this.#table, randomness: this.#randomness }, identityLayout);
    const put = {
      id: userId(this.#randomness.bytes(userIdBytes)),
      created: this.#clock.now(),
      ...(lacks.length > 0 && { lacks: new Set(lacks) }),
      ...(only !== undefined && carriedByUser({ attached: [], inline: { access: only } })),
      r: this.token(),
    };
    const owner = accountKey.project(project.id);
    const key = accountKey.user(project.id, user);
    await this.repeat(async () => {
      const before = await this.#item(owner, `the project ${project.email}`);
      if ((await this.#table.get(key)) !== undefined) refuse(`the user ${name} already exists`);
      // The first is root, unless it is limited.
      const isRoot = before['root'] === undefined && only === undefined;
      return [
        { key, put, expect: { is: 'absent' } },
        revised(owner, before, { ...before, ...(isRoot && { root: user }), r: this.token() }),
      ];
    });
    return userRecord(project, user, put);
  }

  /** Removes a user together with their keys. Objects that they wrote belong to the project and remain. */
  async removeUser(name: string): Promise<void> {
    const { name: user, project } = await this.user(name);
    const key = accountKey.user(project.id, user);
    await this.repeat(async () => {
      const before = await this.#item(key, `the user ${name}`);
      const keys = await everyItem(this.#table, key.pk, accountPrefix.keysOf(user));
      const owner = accountKey.project(project.id);
      const projectItem = await this.#item(owner, `the project ${project.email}`);
      const { root, ...others } = projectItem;
      return [
        removed(key, before),
        // Who gets the name later is not root for that.
        ...(root === user ? [revised(owner, projectItem, { ...others, r: this.token() })] : []),
        ...keys.flatMap((one) => [
          { key: one.key, delete: true as const },
          { key: accountKey.accessKey(accountKeyParts.usersKey(one.key)), delete: true as const },
          { key: accountKey.lastUse(accountKeyParts.usersKey(one.key)), delete: true as const },
        ]),
      ];
    });
  }

  async suspendUser(name: string, suspended: boolean): Promise<void> {
    await this.#changeUser(name, setSuspended(suspended));
  }

  /** Grants or revokes a privilege of a user. */
  async setPrivilege(name: string, privilege: Privilege, granted: boolean): Promise<void> {
    await this.#changeUser(name, ({ lacks, ...others }) => {
      const lacking = new Set((lacks as ReadonlySet<string> | undefined) ?? []);
      if (granted) lacking.delete(privilege);
      else lacking.add(privilege);
      return lacking.size === 0 ? others : { ...others, lacks: lacking };
    });
  }

  /** Returns a new write token. */
  token(): string {
    return Buffer.from(this.#randomness.bytes(9)).toString('base64url');
  }

  /**
   * Changes one existing item.
   * @param what its description in a refusal
   */
  async change(key: ItemKey, what: string, change: (before: Attributes) => Attributes): Promise<void> {
    await this.repeat(async () => {
      const before = await this.#item(key, what);
      return [revised(key, before, { ...change(before), r: this.token() })];
    });
  }

  /**
   * Writes the changes that `state` returns; after a conflict `state` is called again.
   * @param conditions failures of these are final, and `refusal` is the reason given
   */
  async repeat(
    state: () => Promise<readonly Change[]>,
    conditions: readonly Condition[] = [],
    refusal = '',
  ): Promise<void> {
    return optimistically(
      async () => {
        const written = await this.#table.write(await state(), conditions);
        if (written.outcome === 'written') return;
        const failed = written.outcome === 'conflict' ? written.failed.map(({ key }) => nameOf(key)) : [];
        if (conditions.some(({ key }) => failed.includes(nameOf(key)))) throw new AccountRefusal(refusal);
        return conflict;
      },
      () => {
        throw new AccountRefusal('the table was too busy; try again');
      },
    );
  }

  async #customer(name: string): Promise<CustomerRecord | undefined> {
    const item = await this.#table.get(accountKey.customer(name));
    return item && { customer: name, ...decodeStored(item) };
  }

  async #project(id: string): Promise<ProjectRecord | undefined> {
    const item = await this.#table.get(accountKey.project(id));
    if (item === undefined) return undefined;
    return decodeProjectRecord(id, item['number'] === undefined ? await numbered(this.#table, id) : item);
  }

  async #idOf(email: string): Promise<string> {
    parseProjectName(email);
    const item = await this.#table.get(accountKey.email(email));
    return (item?.['project'] as string | undefined) ?? refuse(`there is no project ${JSON.stringify(email)}`);
  }

  async #changeProject(name: string, change: (before: Attributes) => Attributes): Promise<void> {
    const { id, email } = await this.project(name);
    await this.change(accountKey.project(id), `the project ${email}`, change);
  }

  async #changeUser(name: string, change: (before: Attributes) => Attributes): Promise<void> {
    const user = await this.user(name);
    await this.change(accountKey.user(user.project.id, user.name), `the user ${name}`, change);
  }

  async #item(key: ItemKey, what: string): Promise<Attributes> {
    return (await this.#table.get(key)) ?? refuse(`${what} does not exist`);
  }

  /** Writes the changes, which make something new. @param what names it in a refusal. @param conditions of its surroundings */
  async create(what: string, changes: readonly Change[], conditions: readonly Condition[] = []): Promise<void> {
    const { outcome } = await this.#table.write(changes, conditions);
    if (outcome === 'conflict') throw new AccountRefusal(`${what} already exists`);
    if (outcome === 'unknown')
      throw new AccountRefusal('the table did not answer; check whether the change was made, then try again');
  }

  async #existing<Record>(reads: readonly Promise<Record | undefined>[]): Promise<Record[]> {
    return (await Promise.all(reads)).filter((record) => record !== undefined);
  }
}

/** Parses the name of a privilege. @throws AccountRefusal */
export function parsePrivilege(text: string): Privilege {
  const found = privileges.find((one) => one === text);
  return found ?? refuse(`there is no privilege ${JSON.stringify(text)}; the privileges are: ${privileges.join(', ')}`);
}

/** Throws an {@link AccountRefusal}. */
export function refuse(message: string): never {
  throw new AccountRefusal(message);
}

/** Returns the change that suspends or resumes something. */
export function setSuspended(suspended: boolean): (before: Attributes) => Attributes {
  return ({ suspended: _, ...others }) => (suspended ? { ...others, suspended } : others);
}

function userRecord(project: ProjectRecord, name: string, item: Attributes): UserRecord {
  const names = { ...parseProjectName(project.email), user: name };
  return { user: userNameText(names), name, project, privileges: decodePrivileges(item), ...decodeStored(item) };
}

/** Returns a UUID of version 4 (RFC 9562). */
function uuid(randomness: Randomness): string {
  const bytes = Buffer.from(randomness.bytes(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return `${shown}${names.length > 5 ? ` and ${names.length - 5} more` : ''}; remove them first`;
}

function nameOf({ pk, sk }: ItemKey): string {
  return `${pk}\0${sk}`;
}
