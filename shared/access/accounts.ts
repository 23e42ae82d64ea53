import type { Clock } from '../ports/clock.ts';
import type { Attributes, ItemKey, KeyValueTable } from '../ports/key-value-table.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { AccessKey, AccessKeys, Project, Projects } from './identity.ts';

/** What must exist: a project, its users and their keys, as an operator declares them. */
export interface ProjectDeclaration {
  /** The e-mail form, `project@customer`. */
  readonly project: string;
  /** The canonical id, shown as Owner/ID. */
  readonly id: string;
  readonly displayName: string;
  readonly users: readonly UserDeclaration[];
}

export interface UserDeclaration {
  readonly name: string;
  readonly keys: readonly { readonly accessKeyId: string; readonly secretAccessKey: string }[];
}

const only = '-';
const itemKey = {
  project: (id: string): ItemKey => ({ pk: `account/${id}`, sk: only }),
  user: (project: string, name: string): ItemKey => ({ pk: `account/${project}`, sk: `user/${name}` }),
  email: (email: string): ItemKey => ({ pk: `email/${email}`, sk: only }),
  accessKey: (id: string): ItemKey => ({ pk: `key/${id}`, sk: only }),
} as const;

/** How long a looked-up key is believed: a suspension takes effect within this time. */
const cacheTime = 2000;

/**
 * Customers' projects, users and access keys. Secrets are sealed under the id of their key, so that one copied to another
 * key's item does not open.
 */
export class Accounts implements AccessKeys, Projects {
  readonly #table: KeyValueTable;
  readonly #secrets: Secrets;
  readonly #clock: Clock;
  readonly #cache = new Map<string, { readonly until: number; readonly key: Promise<AccessKey | undefined> }>();

  constructor(rooms: { table: KeyValueTable; secrets: Secrets; clock: Clock }) {
    this.#table = rooms.table;
    this.#secrets = rooms.secrets;
    this.#clock = rooms.clock;
  }

  async find(accessKeyId: string): Promise<AccessKey | undefined> {
    const now = this.#clock.now();
    const cached = this.#cache.get(accessKeyId);
    if (cached && cached.until > now) return cached.key;
    if (this.#cache.size > 10_000) this.#cache.clear();
    const key = this.#read(accessKeyId);
    this.#cache.set(accessKeyId, { until: now + cacheTime, key });
    key.catch(() => this.#cache.delete(accessKeyId));
    return key;
  }

  async project(id: string): Promise<Project | undefined> {
    const item = await this.#table.get(itemKey.project(id));
    return item && decodeProject(id, item);
  }

  /** Creates what is missing of a declaration and leaves alone what is there. */
  async ensure(declaration: ProjectDeclaration): Promise<void> {
    const { project: email, id, displayName } = declaration;
    const customer = email.slice(email.indexOf('@') + 1);
    await this.#create(itemKey.project(id), { email, displayName, customer, created: this.#clock.now() });
    await this.#create(itemKey.email(email), { project: id });
    for (const user of declaration.users) {
      await this.#create(itemKey.user(id, user.name), { created: this.#clock.now() });
      for (const { accessKeyId, secretAccessKey } of user.keys) {
        const secret = await this.#secrets.seal(Buffer.from(secretAccessKey), accessKeyId);
        await this.#create(itemKey.accessKey(accessKeyId), { project: id, user: user.name, secret });
      }
    }
  }

  async #create(key: ItemKey, put: Attributes): Promise<void> {
    const { outcome } = await this.#table.write([{ key, put, expect: { is: 'absent' } }]);
    if (outcome === 'unknown') throw new Error('the table did not answer; try again');
  }

  async #read(accessKeyId: string): Promise<AccessKey | undefined> {
    const item = accessKeyId === '' ? undefined : await this.#table.get(itemKey.accessKey(accessKeyId));
    if (item === undefined) return undefined;
    const id = item['project'] as string;
    const name = item['user'] as string;
    const [projectItem, userItem] = await Promise.all([
      this.#table.get(itemKey.project(id)),
      this.#table.get(itemKey.user(id, name)),
    ]);
    if (projectItem === undefined || userItem === undefined) return undefined;
    const project = decodeProject(id, projectItem);
    const secret = Buffer.from(await this.#secrets.open(item['secret'] as Uint8Array, accessKeyId)).toString();
    return {
      secret,
      user: { kind: 'user', accessKeyId, name, project },
      suspended: [item, projectItem, userItem].some((one) => one['suspended'] === true),
    };
  }
}

function decodeProject(id: string, item: Attributes): Project {
  return { id, email: item['email'] as string, displayName: item['displayName'] as string };
}
