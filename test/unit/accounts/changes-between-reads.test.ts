import { beforeEach, describe, expect, it } from 'vitest';
import { Sessions } from '../../../shared/access/session-tokens.ts';
import { Accounts } from '../../../shared/accounts/accounts.ts';
import type { Attributes, ItemKey } from '../../../shared/ports/key-value-table.ts';
import { accountKey } from '../../../shared/storage/table/keys/account-keys.ts';
import { CountedBytes, openSecrets, SetClock } from '../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../support/storage/memory-table.ts';

const project = 'shop';
const accessKeyId = 'USER';
const role = { project, name: 'deploy', id: 'ROL1' };

/** A table in which something can happen before one of the reads, but after those that were sent together with it. */
class InterleavedTable extends MemoryTable {
  reads = 0;
  beforeRead: (read: number) => Promise<void> = async () => undefined;

  override async get(key: ItemKey): Promise<Attributes | undefined> {
    this.reads += 1;
    await this.beforeRead(this.reads);
    return super.get(key);
  }
}

let table: InterleavedTable;
let clock: SetClock;
let accounts: Accounts;

beforeEach(async () => {
  table = new InterleavedTable();
  clock = new SetClock();
  accounts = new Accounts({ table, secrets: openSecrets, clock });
  const users = [
    { name: 'root', keys: [] },
    { name: 'user', keys: [{ accessKeyId, secretAccessKey: 'secret' }] },
  ];
  await accounts.ensure({ project: 'shop@acme', id: project, displayName: 'shop', users });
  const item = { id: role.id, created: 1, inline: {}, attached: [] };
  await table.write([{ key: accountKey.role(project, role.name), put: item }]);
});

/** Changes an item as IAM does: the item of the project gets another write token. */
async function change(key: ItemKey, to: (item: Attributes) => Attributes | undefined): Promise<void> {
  const [item, ofProject] = await table.getTogether([key, accountKey.project(project)]);
  const put = to(item!);
  await table.write([
    put === undefined ? { key, delete: true } : { key, put },
    { key: accountKey.project(project), put: { ...ofProject, r: `token ${table.feed.length}` } },
  ]);
}

const byKey = (): Promise<unknown> => accounts.find(accessKeyId);

/** Looks a caller up for the first time, while a change happens before the n-th read. @returns whether there was such a read */
async function lookUpWhile(n: number, happens: () => Promise<void>, find = byKey): Promise<boolean> {
  table.reads = 0;
  table.beforeRead = async (read) => {
    if (read === n) await happens();
  };
  // It may be answered as of before the change or after it.
  await find().catch(() => undefined);
  table.beforeRead = async () => undefined;
  return table.reads >= n;
}

/** What another process finds, which remembers nothing. */
function foundAnew(): ReturnType<Accounts['find']> {
  return new Accounts({ table, secrets: openSecrets, clock }).find(accessKeyId);
}

describe.each([1, 2, 3, 4, 5])('a change before the read %i of a lookup is known to the next one:', (n) => {
  it('a key is deactivated', async () => {
    const key = accountKey.accessKey(accessKeyId);
    const happened = await lookUpWhile(n, () => change(key, (item) => ({ ...item, inactive: true })));
    expect(happened).toBe(true);
    expect(await accounts.find(accessKeyId)).toBeUndefined();
  });

  it('a user loses the policies', async () => {
    const key = accountKey.user(project, 'user');
    await lookUpWhile(n, () => change(key, (item) => ({ ...item, attached: [], inline: {} })));
    expect((await accounts.find(accessKeyId))!.user.rights.policies).toEqual([]);
  });

  it('a user gets another name', async () => {
    const [key, former] = [accountKey.accessKey(accessKeyId), accountKey.user(project, 'user')];
    await lookUpWhile(n, async () => {
      const [item] = await table.getTogether([former]);
      await table.write([{ key: accountKey.user(project, 'renamed'), put: item! }]);
      await change(key, (ofKey) => ({ ...ofKey, user: 'renamed' }));
      // Somebody else gets the name, who may nothing.
      await change(former, (ofUser) => ({ ...ofUser, attached: [], inline: {} }));
    });
    const found = await accounts.find(accessKeyId);
    expect(found).toEqual(await foundAnew());
    expect(found!.user.name).toBe('renamed');
  });
});

it.each([1, 2, 3])('a change before the read %i of a lookup is known to the next one: a role is removed', async (n) => {
  const sessions = new Sessions({ secrets: openSecrets, randomness: new CountedBytes() });
  const expires = clock.now() + 3_600_000;
  const temporary = await sessions.begin({ kind: 'role', role, name: 'ci', issued: clock.now(), expires });
  const find = (): Promise<unknown> => accounts.find(temporary.accessKeyId, 'cached', temporary.sessionToken);
  const removal = (): Promise<void> => change(accountKey.role(project, role.name), () => undefined);
  expect(await lookUpWhile(n, removal, find)).toBe(true);
  await expect(find()).rejects.toThrow('token');
});
