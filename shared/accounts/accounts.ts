import type { Clock } from '../ports/clock.ts';
import type { Attributes, ItemKey, KeyValueTable } from '../ports/key-value-table.ts';
import type { Secrets } from '../ports/secrets.ts';
import { accountNumber, projectOfNumber } from './account-numbers.ts';
import { decodePrivileges, decodeProject, decodeUserId } from './account-items.ts';
import { parsed, readRights } from './identity-items.ts';
import { accountKey } from '../storage/table/keys/account-keys.ts';
import { parseProjectName } from '../access/account-names.ts';
import type { AccessKey, AccessKeys, Project, Projects } from '../access/identity.ts';
import { openSession, refuseToken } from '../access/session-tokens.ts';
import { asRead } from '../storage/table/optimistic-write.ts';

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
  readonly #cache = new Map<string, { readonly readAt: number; readonly found: Promise<Found | undefined> }>();

  constructor(deps: { table: KeyValueTable; secrets: Secrets; clock: Clock }) {
    this.#table = deps.table;
    this.#secrets = deps.secrets;
    this.#clock = deps.clock;
  }

  async find(
    accessKeyId: string,
    freshness: 'cached' | 'read' = 'cached',
    sessionToken?: string,
  ): Promise<AccessKey | undefined> {
    if (sessionToken === undefined) return this.#permanent(accessKeyId, freshness);
    const { secret, session } = await openSession(this.#secrets, { accessKeyId, sessionToken }, this.#clock.now());
    const parent = await this.#permanent(session.parent, freshness);
    // It ends with the key that it was made with.
    if (parent === undefined) return refuseToken();
    const { user } = parent;
    const rights = session.policies ? { ...user.rights, session: session.policies.map(parsed) } : user.rights;
    return { ...parent, secret, user: { ...user, rights, accessKeyId, sessionToken, session } };
  }

  async #permanent(accessKeyId: string, freshness: 'cached' | 'read'): Promise<AccessKey | undefined> {
    if (!isPossible(accessKeyId)) return undefined;
    const now = this.#clock.now();
    const cached = freshness === 'cached' ? this.#cache.get(accessKeyId) : undefined;
    // A clock that was set back does not extend its lifetime.
    const isFresh = cached !== undefined && Math.abs(now - cached.readAt) < cacheTime;
    const found = await (isFresh ? cached.found : this.#readAnew(accessKeyId, now));
    // An expired key is treated as if it did not exist.
    return found && found.ends > now ? found.key : undefined;
  }

  #readAnew(accessKeyId: string, now: number): Promise<Found | undefined> {
    if (this.#cache.size > maxCached) this.#cache.clear();
    const found = this.#read(accessKeyId);
    this.#cache.set(accessKeyId, { readAt: now, found });
    found.catch(() => this.#cache.delete(accessKeyId));
    return found;
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

  async accountNumber({ id, accountNumber: known }: Project): Promise<string> {
    return known ?? accountNumber(this.#table, id);
  }

  async userId(project: string, name: string): Promise<string | undefined> {
    const item = isPossible(name) ? await this.#table.get(accountKey.user(project, name)) : undefined;
    return item && decodeUserId(project, name, item);
  }

  /** Creates what a declaration lists and does not exist yet; changes nothing that exists. */
  async ensure(declaration: ProjectDeclaration): Promise<void> {
    const { project: email, id, displayName } = declaration;
    const created = this.#clock.now();
    const { project, customer } = parseProjectName(email);
    await this.#create(accountKey.customer(customer), { created });
    await this.#create(accountKey.listedCustomer(customer), { created });
    await this.#create(accountKey.project(id), { email, displayName, customer, created });
    await this.#create(accountKey.email(email), { project: id });
    await this.#create(accountKey.customersProject(customer, project), { project: id });
    await accountNumber(this.#table, id);
    for (const user of declaration.users) {
      await this.#create(accountKey.user(id, user.name), { created });
      for (const { accessKeyId, secretAccessKey } of user.keys) {
        const secret = await this.#secrets.seal(Buffer.from(secretAccessKey), accessKeyId);
        await this.#create(accountKey.accessKey(accessKeyId), { project: id, user: user.name, secret, created });
        await this.#create(accountKey.usersKey(id, user.name, accessKeyId), { created });
      }
    }
  }

  async #create(key: ItemKey, put: Attributes): Promise<void> {
    const { outcome } = await this.#table.write([{ key, put, expect: { is: 'absent' } }]);
    if (outcome === 'unknown') throw new Error('the table did not answer; try again');
  }

  async #read(accessKeyId: string): Promise<Found | undefined> {
    const item = await this.#table.get(accountKey.accessKey(accessKeyId));
    if (item === undefined) return undefined;
    const id = item['project'] as string;
    const name = item['user'] as string;
    const [projectItem, userItem] = await Promise.all([
      this.#table.get(accountKey.project(id)),
      this.#table.get(accountKey.user(id, name)),
    ]);
    if (projectItem === undefined || userItem === undefined) return undefined;
    const [customerItem, rights] = await Promise.all([
      this.#table.get(accountKey.customer(projectItem['customer'] as string)),
      readRights(this.#table, id, userItem),
    ]);
    const secret = Buffer.from(await this.#secrets.open(item['secret'] as Uint8Array, accessKeyId)).toString();
    return {
      ends: (item['until'] as number | undefined) ?? Infinity,
      key: {
        secret,
        user: {
          kind: 'user',
          id: decodeUserId(id, name, userItem),
          accessKeyId,
          name,
          project: decodeProject(id, projectItem),
          privileges: decodePrivileges(userItem),
          rights,
        },
        unchanged: [
          { key: accountKey.accessKey(accessKeyId), expect: asRead(item) },
          { key: accountKey.user(id, name), expect: asRead(userItem) },
          { key: accountKey.project(id), expect: asRead(projectItem) },
          { key: accountKey.customer(projectItem['customer'] as string), expect: asRead(customerItem) },
        ],
        suspended: [item, userItem, projectItem, customerItem].some((one) => one?.['suspended'] === true),
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
  readonly ends: number;
}
