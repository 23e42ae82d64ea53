import type { Clock } from '../ports/clock.ts';
import type { Attributes, Item, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { Secrets } from '../ports/secrets.ts';
import { decodeProject, decodeStored, everyItem, removed, type KeyRecord, type Part } from './account-items.ts';
import { accountKey, accountKeyParts, accountPrefix } from '../storage/table/keys/account-keys.ts';
import {
  AccountRefusal,
  checkKeyId,
  keyIdPattern,
  maxSecretLength,
  parseProjectName,
  userNameText,
} from '../access/account-names.ts';
import { LastUses } from './key-uses.ts';
import { refuse, setSuspended, type Administration } from './administration.ts';

/** A new key. Its secret is shown only once. */
export interface NewKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** `project:user@customer` */
  readonly user: string;
}

/** More would not fit into the single write that removes them with their user. */
const maxKeys = 20;

/** The administration of users' access keys. Throws {@link AccountRefusal} if an action is not possible. */
export class KeyAdministration {
  readonly #table: KeyValueTable;
  readonly #secrets: Secrets;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #accounts: Administration;
  readonly #uses: LastUses;

  constructor(
    deps: { table: KeyValueTable; secrets: Secrets; clock: Clock; randomness: Randomness },
    accounts: Administration,
  ) {
    this.#table = deps.table;
    this.#secrets = deps.secrets;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
    this.#accounts = accounts;
    this.#uses = new LastUses(deps);
  }

  /** Returns the keys of a user: `project:user@customer`. */
  async keys(user: string): Promise<readonly KeyRecord[]> {
    const { name, project } = await this.#accounts.user(user);
    return this.#records(await everyItem(this.#table, accountKey.project(project.id).pk, accountPrefix.keysOf(name)));
  }

  /** Returns a page of the keys of a user, or of all users of a project, with their last uses, sorted by user and id. `next` is `user:id`. */
  async keyPage(of: string, { after, limit }: Part): Promise<{ keys: readonly KeyRecord[]; next?: string }> {
    const user = of.includes(':') ? await this.#accounts.user(of) : undefined;
    const { id } = user?.project ?? (await this.#accounts.project(of));
    const [, name = '', keyId = ''] = /^([^:]*):(.*)$/.exec(after ?? '') ?? [];
    const { items, more } = await this.#table.query(accountKey.project(id).pk, {
      ...{ prefix: user ? accountPrefix.keysOf(user.name) : accountPrefix.keys, limit },
      ...(after !== undefined && { after: accountKey.usersKey(id, name, keyId).sk }),
    });
    const keys = await Promise.all((await this.#records(items)).map((one) => this.#withUse(one)));
    return { keys, ...(more && { next: accountKeyParts.named(items.at(-1)!.key) }) };
  }

  async key(accessKeyId: string): Promise<KeyRecord> {
    return this.#withUse((await this.#existing(accessKeyId)).record);
  }

  /** Returns a key with its secret. */
  async secretOf(accessKeyId: string): Promise<NewKey & { readonly project: string }> {
    const { record, item } = await this.#existing(accessKeyId);
    const secret = await this.#secrets.open(item['secret'] as Uint8Array, accessKeyId);
    const project = item['project'] as string;
    return { accessKeyId, secretAccessKey: Buffer.from(secret).toString(), user: record.user, project };
  }

  /**
   * Creates a key for a user.
   * @param given the key's id, for example the name of the user, and its secret; each defaults to a random value
   */
  async createKey(user: string, given: { id?: string; secret?: string } = {}): Promise<NewKey> {
    const { name, project } = await this.#accounts.user(user);
    const id = given.id ?? randomKeyId(this.#randomness);
    return this.#create({ user, name, project: project.id }, id, given.secret);
  }

  /**
   * Creates another key, with a random id, for the user of a key.
   * @param overlap the milliseconds for which the old key remains valid; undefined: until it is removed
   */
  async rotateKey(
    accessKeyId: string,
    overlap?: number,
  ): Promise<NewKey & { readonly formerUntil: number | undefined }> {
    const { record, item } = await this.#existing(accessKeyId);
    if (record.suspended)
      throw new AccountRefusal(`${accessKeyId} is suspended; resume it first, or create another key`);
    const owner = { user: record.user, name: item['user'] as string, project: item['project'] as string };
    const made = await this.#create(owner, randomKeyId(this.#randomness));
    if (overlap === undefined) return { ...made, formerUntil: record.until };
    const until = Math.min(this.#clock.now() + overlap, record.until ?? Infinity);
    await this.#accounts.change(accountKey.accessKey(accessKeyId), `the key ${accessKeyId}`, (before) => ({
      ...before,
      until,
    }));
    return { ...made, formerUntil: until };
  }

  async suspendKey(accessKeyId: string, suspended: boolean): Promise<void> {
    const change = setSuspended(suspended);
    await this.#accounts.change(accountKey.accessKey(accessKeyId), `the key ${accessKeyId}`, ({ inactive, ...item }) =>
      change(suspended && inactive !== undefined ? { ...item, inactive } : item),
    );
  }

  async removeKey(accessKeyId: string): Promise<void> {
    await this.#accounts.repeat(async () => {
      const { item } = await this.#existing(accessKeyId);
      return [
        removed(accountKey.accessKey(accessKeyId), item),
        { key: accountKey.lastUse(accessKeyId), delete: true },
        { key: accountKey.usersKey(item['project'] as string, item['user'] as string, accessKeyId), delete: true },
      ];
    });
  }

  async #create(owner: { user: string; name: string; project: string }, id: string, given?: string): Promise<NewKey> {
    checkKeyId(id);
    const secretAccessKey = given ?? randomSecret(this.#randomness);
    if (secretAccessKey === '' || secretAccessKey.length > maxSecretLength) {
      throw new AccountRefusal(`a secret must have 1 to ${maxSecretLength} characters`);
    }
    if ((await this.keys(owner.user)).length >= maxKeys) {
      throw new AccountRefusal(`${owner.user} has ${maxKeys} keys already; remove one first`);
    }
    const created = this.#clock.now();
    const secret = await this.#secrets.seal(Buffer.from(secretAccessKey), id);
    const { outcome } = await this.#table.write(
      [
        {
          key: accountKey.accessKey(id),
          put: { project: owner.project, user: owner.name, secret, created, r: this.#accounts.token() },
          expect: { is: 'absent' },
        },
        { key: accountKey.usersKey(owner.project, owner.name, id), put: { created } },
      ],
      [{ key: accountKey.user(owner.project, owner.name), expect: { is: 'present' } }],
    );
    if (outcome !== 'written') throw new AccountRefusal(`the key ${id} already exists; choose another id`);
    return { accessKeyId: id, secretAccessKey, user: owner.user };
  }

  /** Returns the keys that are in the list of their user. */
  async #records(listed: readonly Item[]): Promise<readonly KeyRecord[]> {
    const found = await Promise.all(listed.map(({ key }) => this.#find(accountKeyParts.usersKey(key))));
    return found.flatMap((one) => one?.record ?? []);
  }

  async #withUse(record: KeyRecord): Promise<KeyRecord> {
    return { ...record, used: await this.#uses.of(record.accessKeyId) };
  }

  async #existing(accessKeyId: string): Promise<FoundKey> {
    return (await this.#find(accessKeyId)) ?? refuse(`there is no key ${JSON.stringify(accessKeyId)}`);
  }

  async #find(accessKeyId: string): Promise<FoundKey | undefined> {
    const item = keyIdPattern.test(accessKeyId) ? await this.#table.get(accountKey.accessKey(accessKeyId)) : undefined;
    const id = item?.['project'] as string;
    const owner = item && (await this.#table.get(accountKey.project(id)));
    if (item === undefined || owner === undefined) return undefined;
    const names = { ...parseProjectName(decodeProject(id, owner).email), user: item['user'] as string };
    const until = item['until'] as number | undefined;
    const stored = decodeStored(item);
    // IAM calls a key inactive.
    const suspended = stored.suspended || item['inactive'] === true;
    return { item, record: { accessKeyId, user: userNameText(names), until, ...stored, suspended } };
  }
}

interface FoundKey {
  readonly record: KeyRecord;
  readonly item: Attributes;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * Returns 20 capital letters and digits: some clients split a key id at `:`, or take `@` and `/` for their own syntax.
 */
export function randomKeyId(randomness: Randomness): string {
  return `STIL${[...randomness.bytes(16)].map((byte) => letters[byte & 31]).join('')}`;
}

/** Returns 40 characters. The first is never a hyphen, as programs take an argument with one for an option. */
export function randomSecret(randomness: Randomness): string {
  return Buffer.from(randomness.bytes(30)).toString('base64url').replace(/^-/, 'A');
}
