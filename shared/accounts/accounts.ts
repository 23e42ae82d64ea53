import type { Clock } from '../ports/clock.ts';
import type { Attribute, Attributes, ItemKey, KeyValueTable } from '../ports/key-value-table.ts';
import type { Secrets } from '../ports/secrets.ts';
import { accountNumber, numbered, projectOfNumber } from './account-numbers.ts';
import { decodePrivileges, decodeProject, decodeUserId, pathOf } from './account-items.ts';
import { RememberedPolicies } from './remembered-policies.ts';
import { decodeCarriedByRole, decodeCarriedByUser, parsed, readRights } from './identity-items.ts';
import { accountKey } from '../storage/table/keys/account-keys.ts';
import { parseProjectName } from '../access/account-names.ts';
import {
  privileges,
  type AccessKey,
  type AccessKeys,
  type Account,
  type PrincipalName,
  type Project,
  type Projects,
} from '../access/identity.ts';
import { sessionName } from '../access/user-arn.ts';
import { openSession, refuseToken, type SessionOfRole } from '../access/session-tokens.ts';
import { asRead } from '../storage/table/optimistic-write.ts';
import { recently } from '../storage/table/recent-table.ts';

/** An operator's declaration of a project that must exist, with its users and their keys. */
export interface ProjectDeclaration {
  /** In e-mail form, `project@customer`. */
  readonly project: string;
  /** The canonical id, shown as Owner/ID. */
  readonly id: string;
  readonly displayName: string;
  readonly users: readonly UserDeclaration[];
}

interface UserDeclaration {
  readonly name: string;
  readonly keys: readonly { readonly accessKeyId: string; readonly secretAccessKey: string }[];
}

/** The lifetime of cached key lookups, in milliseconds: a suspension takes effect within this time. */
const cacheTime = 2000;
const maxCached = 10_000;
/**
 * The maximum length of ids and names, in bytes. Anonymous callers can ask for any name, and not every table can look
 * up longer ones.
 */
const maxNameLength = 512;

/**
 * The projects, users and access keys of customers. Secrets are sealed under the id of their key, so a secret copied to
 * the item of another key cannot be opened.
 */
export class Accounts implements AccessKeys, Projects {
  readonly #table: KeyValueTable;
  readonly #secrets: Secrets;
  readonly #clock: Clock;
  readonly #policies: RememberedPolicies;
  readonly #cache = new Map<string, { readonly readAt: number; readonly found: Promise<Found | undefined> }>();

  constructor(deps: { table: KeyValueTable; secrets: Secrets; clock: Clock }) {
    this.#table = deps.table;
    this.#secrets = deps.secrets;
    this.#clock = deps.clock;
    this.#policies = new RememberedPolicies(deps.table);
  }

  async find(
    accessKeyId: string,
    freshness: 'cached' | 'read' = 'cached',
    sessionToken?: string,
  ): Promise<AccessKey | undefined> {
    if (sessionToken === undefined) return this.#permanent(accessKeyId, freshness);
    const { secret, session } = await openSession(this.#secrets, { accessKeyId, sessionToken }, this.#clock.now());
    const parent =
      session.kind === 'role' ? await this.#role(session, freshness) : await this.#permanent(session.parent, freshness);
    // It ends with the key that it was made with, or with the role.
    if (parent === undefined) return refuseToken();
    const { user } = parent;
    const rights = session.policies ? { ...user.rights, session: session.policies.map(parsed) } : user.rights;
    const name = user.role ? sessionName(user.role.name, session.name!) : user.name;
    return { ...parent, secret, user: { ...user, name, rights, accessKeyId, sessionToken, session } };
  }

  #permanent(accessKeyId: string, freshness: 'cached' | 'read'): Promise<AccessKey | undefined> {
    if (!isPossible(accessKeyId)) return Promise.resolve(undefined);
    return this.#known(`key/${accessKeyId}`, freshness, () => this.#read(accessKeyId));
  }

  /** Returns who has assumed a role, if it is still there: without a secret, which is that of the session. */
  async #role({ role }: SessionOfRole, freshness: 'cached' | 'read'): Promise<AccessKey | undefined> {
    const { project, name, id } = role;
    const found = await this.#known(`role/${project}/${name}`, freshness, () => this.#readRole(project, name));
    return found?.user.id === id ? found : undefined;
  }

  async #known(
    name: string,
    freshness: 'cached' | 'read',
    read: () => Promise<Found | undefined>,
  ): Promise<AccessKey | undefined> {
    const now = this.#clock.now();
    const cached = freshness === 'cached' ? this.#cache.get(name) : undefined;
    // A clock that was set back does not extend its lifetime.
    const isFresh = cached !== undefined && Math.abs(now - cached.readAt) < cacheTime;
    const known = isFresh ? await cached.found : undefined;
    const isCurrent = isFresh && (!this.#table.freeChecks || (known !== undefined && (await this.#isAsRead(known))));
    const found = isCurrent ? known : await this.#readAnew(name, now, read);
    // An expired key is treated as if it did not exist.
    return found && found.ends > now ? found.key : undefined;
  }

  #readAnew(name: string, now: number, read: () => Promise<Found | undefined>): Promise<Found | undefined> {
    if (this.#cache.size > maxCached) this.#cache.clear();
    const found = read();
    this.#cache.set(name, { readAt: now, found });
    found.catch(() => this.#cache.delete(name));
    return found;
  }

  /** Tells whether no change by IAM has happened since a key was read: each gives the project's item another write token. */
  async #isAsRead({ key, token }: Found): Promise<boolean> {
    return (await recently(this.#table, accountKey.project(key.user.project.id), cacheTime))?.['r'] === token;
  }

  async project(id: string): Promise<Project | undefined> {
    const item = isPossible(id) ? await this.#table.get(accountKey.project(id)) : undefined;
    return item && decodeProject(id, item);
  }

  async byEmail(email: string): Promise<Project | undefined> {
    const item = isPossible(email) ? await this.#table.get(accountKey.email(email)) : undefined;
    return item && this.project(item['project'] as string);
  }

  async byNumber(number: string): Promise<Project | undefined> {
    const id = await projectOfNumber(this.#table, number);
    return id === undefined ? undefined : this.project(id);
  }

  async account(project: Project): Promise<Account> {
    const known = project.accountNumber;
    if (known !== undefined) return { ...project, accountNumber: known };
    const item = await numbered(this.#table, project.id);
    return { ...decodeProject(project.id, item), accountNumber: item['number'] as string };
  }

  async principalId(project: string, { kind, name }: PrincipalName): Promise<string | undefined> {
    const [, path = '', last = ''] = /^((?:.*\/)?)([^/]*)$/s.exec(name) ?? [];
    const item = isPossible(last) ? await this.#table.get(accountKey[kind](project, last)) : undefined;
    if (item === undefined || pathOf(item) !== `/${path}`) return undefined;
    return kind === 'user' ? decodeUserId(project, last, item) : (item['id'] as string);
  }

  /** Creates what a declaration lists and does not exist yet; changes nothing that exists. */
  async ensure(declaration: ProjectDeclaration): Promise<void> {
    const { project: email, id, displayName } = declaration;
    const created = this.#clock.now();
    const { project, customer } = parseProjectName(email);
    await this.#create(accountKey.customer(customer), { created });
    await this.#create(accountKey.listedCustomer(customer), { created });
    const root = declaration.users[0]?.name;
    await this.#create(accountKey.project(id), {
      ...{ email, displayName, customer, created },
      ...(root !== undefined && { root }),
    });
    await this.#create(accountKey.email(email), { project: id });
    await this.#create(accountKey.customersProject(customer, project), { project: id });
    for (const user of declaration.users) {
      await this.#create(accountKey.user(id, user.name), { created });
      for (const { accessKeyId, secretAccessKey } of user.keys) {
        const secret = await this.#secrets.seal(Buffer.from(secretAccessKey), accessKeyId);
        await this.#create(accountKey.accessKey(accessKeyId), { project: id, user: user.name, secret, created });
        await this.#create(accountKey.usersKey(id, user.name, accessKeyId), { created });
      }
    }
    await accountNumber(this.#table, id);
  }

  async #create(key: ItemKey, put: Attributes): Promise<void> {
    const { outcome } = await this.#table.write([{ key, put, expect: { is: 'absent' } }]);
    if (outcome === 'unknown') throw new Error('the table did not answer; try again');
  }

  async #read(accessKeyId: string): Promise<Found | undefined> {
    const key = accountKey.accessKey(accessKeyId);
    const found = await this.#table.get(key);
    if (found === undefined) return undefined;
    const id = found['project'] as string;
    const name = found['user'] as string;
    const projectItem = await this.#projectItem(id);
    if (projectItem === undefined) return undefined;
    const customer = accountKey.customer(projectItem['customer'] as string);
    const [item, userItem, customerItem] = await Promise.all([
      // Once more: only what is read after the token is remembered under it.
      this.#table.freeChecks ? this.#table.get(key) : found,
      this.#table.get(accountKey.user(id, name)),
      this.#table.get(customer),
    ]);
    if (item === undefined || item['inactive'] === true) return undefined;
    // The key has got another owner meanwhile: its user was renamed.
    if (item['project'] !== id || item['user'] !== name) return this.#read(accessKeyId);
    if (userItem === undefined) return undefined;
    const rights = await readRights(
      this.#policies.of(id, projectItem['r']),
      id,
      decodeCarriedByUser(userItem),
      projectItem['root'] === name,
    );
    const secret = Buffer.from(await this.#secrets.open(item['secret'] as Uint8Array, accessKeyId)).toString();
    return {
      ends: (item['until'] as number | undefined) ?? Infinity,
      token: projectItem['r'],
      key: {
        secret,
        user: {
          kind: 'user',
          id: decodeUserId(id, name, userItem),
          accessKeyId,
          name,
          path: pathOf(userItem),
          project: decodeProject(id, projectItem),
          privileges: decodePrivileges(userItem),
          rights,
        },
        unchanged: [
          { key, expect: asRead(item) },
          { key: accountKey.user(id, name), expect: asRead(userItem) },
          { key: accountKey.project(id), expect: asRead(projectItem) },
          { key: customer, expect: asRead(customerItem) },
        ],
        suspended: [item, userItem, projectItem, customerItem].some((one) => one?.['suspended'] === true),
      },
    };
  }

  /**
   * Reads the item of a project, with the token under which whoever is in it is remembered. It must come first: every change by IAM gives
   * another token, so that what is read afterwards is as of this token, or is found to be out of date. It is itself remembered for as long:
   * that nothing has changed is then known without a read.
   */
  #projectItem(id: string): Promise<Attributes | undefined> {
    return recently(this.#table, accountKey.project(id), 0);
  }

  async #readRole(project: string, name: string): Promise<Found | undefined> {
    const projectItem = await this.#projectItem(project);
    if (projectItem === undefined) return undefined;
    const customer = accountKey.customer(projectItem['customer'] as string);
    const [item, customerItem] = await Promise.all([
      this.#table.get(accountKey.role(project, name)),
      this.#table.get(customer),
    ]);
    if (item === undefined) return undefined;
    const rights = await readRights(this.#policies.of(project, projectItem['r']), project, decodeCarriedByRole(item));
    return {
      ends: Infinity,
      token: projectItem['r'],
      key: {
        secret: '',
        user: {
          kind: 'user',
          id: item['id'] as string,
          accessKeyId: '',
          name: sessionName(name, ''),
          role: { name, path: pathOf(item) },
          project: decodeProject(project, projectItem),
          privileges,
          rights: { ...rights, isOfRole: true },
        },
        unchanged: [
          { key: accountKey.role(project, name), expect: asRead(item) },
          { key: accountKey.project(project), expect: asRead(projectItem) },
          { key: customer, expect: asRead(customerItem) },
        ],
        suspended: [projectItem, customerItem].some((one) => one?.['suspended'] === true),
      },
    };
  }
}

function isPossible(name: string): boolean {
  return name !== '' && Buffer.byteLength(name) <= maxNameLength;
}

/** An existing key, and when it expires, in milliseconds since the epoch. */
interface Found {
  readonly key: AccessKey;
  /** The write token of the project's item. */
  readonly token: Attribute | undefined;
  readonly ends: number;
}
