import { beforeEach, describe, expect, it } from 'vitest';
import { accountKey } from '../../../shared/storage/table/keys/account-keys.ts';
import { AccountRefusal } from '../../../shared/access/account-names.ts';
import { Accounts } from '../../../shared/accounts/accounts.ts';
import { Administration } from '../../../shared/accounts/administration.ts';
import { KeyAdministration, randomSecret } from '../../../shared/accounts/key-administration.ts';
import { AesSecrets } from '../../../shared/adapters/system/aes-secrets.ts';
import { ownsNoBucket } from '../../../shared/storage/buckets/bucket-reads.ts';
import { itemKey } from '../../../shared/storage/table/keys/keys.ts';
import { CountedBytes, SetClock } from '../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../support/storage/memory-table.ts';

const user = 'shop:ci@acme';
let deps: { table: MemoryTable; clock: SetClock; randomness: CountedBytes; secrets: AesSecrets };
let accounts: Administration;
let keys: KeyAdministration;
/** The accounts as the service reads them. Nothing is cached yet. */
let service: Accounts;

beforeEach(async () => {
  const secrets = new AesSecrets(new Uint8Array(32).fill(7));
  deps = { table: new MemoryTable(), clock: new SetClock(), randomness: new CountedBytes(), secrets };
  accounts = new Administration(deps);
  keys = new KeyAdministration(deps, accounts);
  service = new Accounts(deps);
  await accounts.createCustomer('acme');
  await accounts.createProject('shop@acme');
  await accounts.createUser(user);
});

const later = (milliseconds: number): void => void (deps.clock.time += milliseconds);

describe('a key', () => {
  it('is found with its user, and its secret lies sealed under its id', async () => {
    const made = await keys.createKey(user);
    const found = await service.find(made.accessKeyId);
    expect(found).toMatchObject({
      secret: made.secretAccessKey,
      suspended: false,
      user: { name: 'ci', project: { email: 'shop@acme' }, privileges: ['monitoring'] },
    });
    const item = (await deps.table.get(accountKey.accessKey(made.accessKeyId)))!;
    expect(JSON.stringify(deps.table.feed)).not.toContain(made.secretAccessKey);
    await expect(deps.secrets.open(item['secret'] as Uint8Array, 'another-id')).rejects.toThrow();
  });

  it('has an id of letters and digits, or the one it is given, such as the name of its user', async () => {
    const first = await keys.createKey(user);
    expect(first.accessKeyId).toMatch(/^STIL[A-Z2-7]{16}$/);
    expect((await keys.rotateKey(first.accessKeyId)).accessKeyId).toMatch(/^STIL[A-Z2-7]{16}$/);
    expect((await keys.createKey(user, { id: user })).accessKeyId).toBe(user);
    expect(await service.find(user)).toMatchObject({ user: { name: 'ci' } });
  });

  it('stays good when it is rotated without an overlap, until it is removed', async () => {
    const former = await keys.createKey(user);
    expect((await keys.rotateKey(former.accessKeyId)).formerUntil).toBeUndefined();
    later(10 * 365 * 86_400_000);
    expect(await service.find(former.accessKeyId)).toBeDefined();
    await keys.removeKey(former.accessKeyId);
    later(10_000);
    expect(await service.find(former.accessKeyId)).toBeUndefined();
  });

  it('is good to the end of an overlap, whatever is remembered of it', async () => {
    const former = await keys.createKey(user);
    const next = await keys.rotateKey(former.accessKeyId, 60_000);
    expect(next.formerUntil).toBe(deps.clock.time + 60_000);
    later(59_999);
    expect(await service.find(former.accessKeyId)).toBeDefined();
    later(1);
    expect(await service.find(former.accessKeyId)).toBeUndefined();
    expect(await service.find(next.accessKeyId)).toBeDefined();
  });

  it('does not live longer by being rotated again', async () => {
    const former = await keys.createKey(user);
    await keys.rotateKey(former.accessKeyId, 1000);
    expect((await keys.rotateKey(former.accessKeyId, 60_000)).formerUntil).toBe(deps.clock.time + 1000);
  });

  it('is not rotated while it is suspended, nor made without end', async () => {
    const { accessKeyId } = await keys.createKey(user);
    await keys.suspendKey(accessKeyId, true);
    await expect(keys.rotateKey(accessKeyId)).rejects.toThrow(AccountRefusal);
    for (let count = 1; count < 20; count += 1) await keys.createKey(user);
    await expect(keys.createKey(user)).rejects.toThrow('has 20 keys already');
  });

  it('is not made for a user who is removed at the same moment', async () => {
    deps.table.beforeWrite = async (changes) => {
      if (!changes.some(({ key }) => key.pk.startsWith('key/'))) return;
      deps.table.beforeWrite = async () => undefined;
      await accounts.removeUser(user);
    };
    await expect(keys.createKey(user, { id: user })).rejects.toThrow(AccountRefusal);
    expect(await service.find(user)).toBeUndefined();
  });
});

describe('a suspension', () => {
  it.each([
    ['customer', () => accounts.suspendCustomer('acme', true), () => accounts.suspendCustomer('acme', false)],
    ['project', () => accounts.suspendProject('shop@acme', true), () => accounts.suspendProject('shop@acme', false)],
    ['user', () => accounts.suspendUser(user, true), () => accounts.suspendUser(user, false)],
    ['key', () => keys.suspendKey(user, true), () => keys.suspendKey(user, false)],
  ] as const)('of the %s holds within two seconds, and ends', async (_, suspend, resume) => {
    await keys.createKey(user, { id: user });
    expect((await service.find(user))?.suspended).toBe(false);
    await suspend();
    later(2001);
    expect((await service.find(user))?.suspended).toBe(true);
    await resume();
    later(2001);
    expect((await service.find(user))?.suspended).toBe(false);
  });

  it('is not lost to another change at the same moment', async () => {
    deps.table.beforeWrite = async () => {
      deps.table.beforeWrite = async () => undefined;
      await accounts.setPrivilege(user, 'monitoring', false);
    };
    await accounts.suspendUser(user, true);
    expect(await accounts.user(user)).toMatchObject({ suspended: true, privileges: [] });
  });

  it('is possible of what was declared by a file', async () => {
    const declared = { accessKeyId: 'AK', secretAccessKey: 'secret' };
    const id = 'declared-id';
    const users = [{ name: 'bob', keys: [declared] }];
    await service.ensure({ project: 'old@declared', id, displayName: 'old', users });
    await service.ensure({ project: 'old@declared', id, displayName: 'old', users });
    await accounts.suspendCustomer('declared', true);
    expect((await service.find('AK'))?.suspended).toBe(true);
    expect((await keys.keys('old:bob@declared')).map(({ accessKeyId }) => accessKeyId)).toEqual(['AK']);
    expect((await accounts.projects('declared')).map((project) => project.id)).toEqual([id]);
  });
});

describe('the account number of a project', () => {
  it('has 12 digits, stays, and finds the project', async () => {
    const { id, accountNumber } = await accounts.project('shop@acme');
    expect(accountNumber).toMatch(/^[1-9]\d{11}$/);
    await accounts.suspendProject('shop@acme', true);
    expect((await accounts.project('shop@acme')).accountNumber).toBe(accountNumber);
    expect((await service.byNumber(accountNumber!))?.id).toBe(id);
    expect((await accounts.createProject('other@acme')).accountNumber).not.toBe(accountNumber);
    expect(await service.byNumber('000000000000')).toBeUndefined();
    expect(await service.byNumber(id)).toBeUndefined();
  });

  it('is given once to a project of an earlier version, whoever asks at the same time', async () => {
    const key = accountKey.project('earlier');
    await deps.table.write([{ key, put: { email: 'earlier@acme', displayName: 'x', customer: 'acme' } }]);
    const project = (await service.project('earlier'))!;
    const numbers = await Promise.all(
      [1, 2, 3].map(() => service.account(project).then(({ accountNumber }) => accountNumber)),
    );
    expect(new Set(numbers).size).toBe(1);
    expect((await service.byNumber(numbers[0]!))?.id).toBe('earlier');
    expect((await accounts.project('earlier')).accountNumber).toBe(numbers[0]);
  });

  it('is another one if it is taken, and goes with the project', async () => {
    await accounts.removeUser(user);
    const { id, accountNumber } = await accounts.project('shop@acme');
    await accounts.removeProject('shop@acme', ownsNoBucket);
    expect(await service.byNumber(accountNumber!)).toBeUndefined();
    await deps.table.write([{ key: accountKey.number(accountNumber!), put: { project: 'another' } }]);
    const again = await accounts.createProject('shop@acme', { id });
    expect(again.accountNumber).toMatch(/^[1-9]\d{11}$/);
    expect(again.accountNumber).not.toBe(accountNumber);
  });
});

describe('the id of a user', () => {
  const { project: shop, name } = { project: 'shop@acme', name: 'ci' };

  it('does not pass to a user who is given the name later', async () => {
    const { id: project } = await accounts.project(shop);
    const first = await service.principalId(project, { kind: 'user', name });
    expect(first).toMatch(/^USR[A-Z2-7]{18}$/);
    await accounts.suspendUser(user, true);
    await accounts.suspendUser(user, false);
    const { accessKeyId } = await keys.createKey(user);
    expect((await service.find(accessKeyId))?.user.id).toBe(first);
    await accounts.removeUser(user);
    expect(await service.principalId(project, { kind: 'user', name })).toBeUndefined();
    await accounts.createUser(user);
    const next = await service.principalId(project, { kind: 'user', name });
    expect(next).toMatch(/^USR[A-Z2-7]{18}$/);
    expect(next).not.toBe(first);
  });

  it('follows from project, name and time for those that have none of their own', async () => {
    const declare = (id: string, users: readonly string[]): Promise<void> =>
      service.ensure({
        ...{ project: `${id}@declared`, id, displayName: id },
        users: users.map((one) => ({ name: one, keys: [] })),
      });
    await declare('one', ['bob', 'eve']);
    await declare('two', ['bob']);
    const ids = [
      await service.principalId('one', { kind: 'user', name: 'bob' }),
      await service.principalId('one', { kind: 'user', name: 'eve' }),
      await service.principalId('two', { kind: 'user', name: 'bob' }),
    ];
    expect(new Set(ids).size).toBe(3);
    await declare('one', ['bob']);
    expect(await service.principalId('one', { kind: 'user', name: 'bob' })).toBe(ids[0]);
    await accounts.removeUser('one:bob@declared');
    later(1);
    await declare('one', ['bob']);
    expect(ids).not.toContain(await service.principalId('one', { kind: 'user', name: 'bob' }));
  });
});

describe('removing', () => {
  it('takes the keys of a user along', async () => {
    const first = await keys.createKey(user);
    const second = await keys.createKey(user);
    await accounts.removeUser(user);
    for (const { accessKeyId } of [first, second]) expect(await service.find(accessKeyId)).toBeUndefined();
    await accounts.createUser(user);
    expect(await keys.keys(user)).toEqual([]);
  });

  it('refuses a project that owns a bucket, also if it got it at the last moment', async () => {
    await accounts.removeUser(user);
    const { id } = await accounts.project('shop@acme');
    deps.table.beforeWrite = async () => {
      deps.table.beforeWrite = async () => undefined;
      await deps.table.write([{ key: itemKey.bucketCount(id), put: { count: 1 } }]);
    };
    await expect(accounts.removeProject('shop@acme', ownsNoBucket)).rejects.toThrow('still owns buckets');
    await deps.table.write([{ key: itemKey.bucketCount(id), put: { count: 0 } }]);
    await accounts.removeProject('shop@acme', ownsNoBucket);
    expect(await service.byEmail('shop@acme')).toBeUndefined();
    expect(await service.project(id)).toBeUndefined();
    await accounts.removeCustomer('acme');
    expect(await accounts.customerPage({ limit: 10 })).toEqual({ customers: [] });
  });
});

it('a quota of buckets is seen with the user, and goes again', async () => {
  await keys.createKey(user, { id: user });
  await accounts.setBucketQuota('shop@acme', 3);
  expect((await service.find(user))?.user.project.bucketQuota).toBe(3);
  await accounts.setBucketQuota('shop@acme', undefined);
  later(2001);
  expect((await service.find(user))?.user.project.bucketQuota).toBeUndefined();
});

it('users of names that begin alike do not share keys', async () => {
  await accounts.createUser('shop:ci.d@acme');
  await keys.createKey('shop:ci.d@acme');
  expect(await keys.keys(user)).toEqual([]);
  expect((await keys.keyPage('shop@acme', { limit: 10 })).keys).toHaveLength(1);
  expect((await keys.keyPage(user, { limit: 10 })).keys).toEqual([]);
});

describe('a list', () => {
  interface Page {
    readonly next?: string;
  }
  /** Returns all pages of a list, and how many reads the dearest of them took. */
  async function pagesOf<One extends Page>(
    read: (after: string | undefined) => Promise<One>,
  ): Promise<{ pages: One[]; reads: number }> {
    const pages: One[] = [];
    let [after, reads]: [string | undefined, number] = [undefined, 0];
    do {
      const before = deps.table.calls.get + deps.table.calls.query;
      pages.push(await read(after));
      reads = Math.max(reads, deps.table.calls.get + deps.table.calls.query - before);
      after = pages.at(-1)!.next;
    } while (after !== undefined);
    return { pages, reads };
  }

  beforeEach(async () => {
    for (let at = 0; at < 40; at += 1) await accounts.createCustomer(`c${String(at).padStart(2, '0')}`);
    for (const name of ['a@c05', 'b@c05', 'c@c05', 'd@c05', 'a@c39', 'b.x@acme']) await accounts.createProject(name);
    for (const name of ['a', 'ci.d', 'z']) await accounts.createUser(`shop:${name}@acme`);
    for (const [name, id] of ['a/1', 'ci/x:y', 'ci/x:z', 'ci/2', 'ci.d/0', 'z/9'].map((one) => one.split('/')))
      await keys.createKey(`shop:${name}@acme`, { id: id! });
  });

  it.each([1, 2, 3, 7, 1000])('in pages of %i has every customer, project, user and key once', async (limit) => {
    const customers = await pagesOf((after) => accounts.customerPage({ after, limit }));
    const named = customers.pages.flatMap((page) => page.customers.map(({ customer }) => customer));
    expect(named).toEqual(['acme', ...Array.from({ length: 40 }, (_, at) => `c${String(at).padStart(2, '0')}`)]);
    const projects = await pagesOf((after) => accounts.projectPage({ after, limit }));
    const emails = ['b.x@acme', 'shop@acme', 'a@c05', 'b@c05', 'c@c05', 'd@c05', 'a@c39'];
    expect(projects.pages.flatMap((page) => page.projects.map(({ email }) => email))).toEqual(emails);
    const ofOne = await pagesOf((after) => accounts.projectPage({ after, limit }, 'c05'));
    expect(ofOne.pages.flatMap((page) => page.projects.map(({ email }) => email))).toEqual(emails.slice(2, 6));
    const users = await pagesOf((after) => accounts.userPage('shop@acme', { after, limit }));
    expect(users.pages.flatMap((page) => page.users.map(({ name }) => name))).toEqual(['a', 'ci', 'ci.d', 'z']);
    const held = await pagesOf((after) => keys.keyPage('shop@acme', { after, limit }));
    const ids = held.pages.flatMap((page) => page.keys.map(({ accessKeyId }) => accessKeyId));
    expect(ids).toEqual(['1', '0', '2', 'x:y', 'x:z', '9']);
    const ofCi = await pagesOf((after) => keys.keyPage(user, { after, limit }));
    expect(ofCi.pages.flatMap((page) => page.keys.map(({ accessKeyId }) => accessKeyId))).toEqual(['2', 'x:y', 'x:z']);
    for (const { pages, reads } of [customers, projects, ofOne, users, held, ofCi]) {
      for (const page of pages) expect(Object.values(page).flat().length).toBeLessThanOrEqual(limit + 1);
      // Of each entry its item and that of its project, of each customer its list, of each key its last use, and what is asked for.
      expect(reads).toBeLessThanOrEqual(4 + 3 * limit);
    }
  });

  it('goes on where it was, whatever has been removed or made meanwhile', async () => {
    const first = await accounts.projectPage({ after: '@c05', limit: 2 });
    expect([first.projects.at(-1)!.email, first.next]).toEqual(['b@c05', 'b@c05']);
    await accounts.removeProject('b@c05', ownsNoBucket);
    await accounts.createProject('b.b@c05');
    const emails = async (after: string): Promise<readonly string[]> =>
      (await accounts.projectPage({ after, limit: 2 })).projects.map(({ email }) => email);
    expect(await emails('b@c05')).toEqual(['b.b@c05', 'c@c05']);
    expect(await emails('zz@c05')).toEqual([]);
    expect(await emails('x@c38z')).toEqual(['a@c39']);
    expect((await accounts.customerPage({ after: 'b', limit: 1 })).customers).toMatchObject([{ customer: 'c00' }]);
  });
});

describe('a random secret', () => {
  it('has 40 characters, of which the first is no hyphen: programs would take it for an option', () => {
    for (let first = 0; first < 256; first++) {
      const bytes = (count: number): Uint8Array => new Uint8Array(count).fill(first, 0, 1);
      expect(randomSecret({ bytes })).toMatch(/^\w[\w-]{39}$/);
    }
  });
});
