import { beforeEach, describe, expect, it } from 'vitest';
import { administer, administrationCommands, type AdministrationAnswer } from '../../../functions/admin/administer.ts';
import { Administration } from '../../../shared/access/administration.ts';
import { KeyAdministration, type NewKey } from '../../../shared/access/key-administration.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { Buckets } from '../../../shared/metadata/buckets.ts';
import { Usage } from '../../../shared/metadata/usage.ts';
import { openSecrets, SetClock } from '../../support/fixed-rooms.ts';
import { MemoryTable } from '../../support/memory-table.ts';

let ask: (command: string, given?: object) => Promise<AdministrationAnswer>;
beforeEach(() => {
  const rooms = {
    ...{ table: new MemoryTable(), clock: new SetClock(), randomness: new CryptoRandomness(), secrets: openSecrets },
  };
  const accounts = new Administration(rooms);
  const all = {
    ...{ ...rooms, accounts, keys: new KeyAdministration(rooms, accounts) },
    ...{ buckets: new Buckets(rooms), usage: new Usage(rooms) },
  };
  ask = (command, given = {}) => administer(all, { command, ...given });
});

const result = async (answer: Promise<AdministrationAnswer>): Promise<unknown> => {
  const given = await answer;
  if (!given.ok) throw new Error(given.error);
  return given.result;
};

async function user(): Promise<void> {
  await result(ask('customer create', { customer: 'acme' }));
  await result(ask('project create', { project: 'shop@acme', displayName: 'The shop' }));
  await result(ask('user create', { user: 'shop:ci@acme', without: 'monitoring' }));
}

describe('administration', () => {
  it('makes customers, projects, users and keys, and shows them', async () => {
    await user();
    const { accessKeyId } = (await result(ask('key create', { user: 'shop:ci@acme', random: true }))) as NewKey;
    expect(await result(ask('customer list'))).toMatchObject([{ customer: 'acme' }]);
    expect(await result(ask('customer show', { customer: 'acme' }))).toMatchObject({
      projects: [{ email: 'shop@acme' }],
    });
    expect(await result(ask('project list'))).toMatchObject([{ displayName: 'The shop' }]);
    expect(await result(ask('project show', { project: 'shop@acme' }))).toMatchObject({ buckets: 0 });
    expect(await result(ask('user show', { user: 'shop:ci@acme' }))).toMatchObject({ privileges: [] });
    expect(await result(ask('key list', { of: 'shop@acme' }))).toMatchObject([{ accessKeyId }]);
    expect(JSON.stringify(await result(ask('key show', { key: accessKeyId })))).not.toContain('secret');
  });

  it('suspends, resumes, grants, revokes, rotates and removes', async () => {
    await user();
    const { accessKeyId } = (await result(ask('key create', { user: 'shop:ci@acme' }))) as NewKey;
    await result(ask('user grant', { user: 'shop:ci@acme', privilege: 'monitoring' }));
    await result(ask('user revoke', { user: 'shop:ci@acme', privilege: 'monitoring' }));
    for (const [what, name] of [
      ['customer', 'acme'],
      ['project', 'shop@acme'],
      ['user', 'shop:ci@acme'],
      ['key', accessKeyId],
    ] as const) {
      await result(ask(`${what} suspend`, { [what]: name }));
      expect(await result(ask(`${what} show`, { [what]: name }))).toMatchObject({ suspended: true });
      await result(ask(`${what} resume`, { [what]: name }));
    }
    const rotated = await result(ask('key rotate', { key: accessKeyId, overlapHours: 2 }));
    expect(rotated).toMatchObject({ formerUntil: new SetClock().time + 2 * 3_600_000 });
    await result(ask('key remove', { key: accessKeyId }));
    await result(ask('user remove', { user: 'shop:ci@acme' }));
    await result(ask('quota buckets', { project: 'shop@acme', buckets: 3 }));
    expect(await ask('quota buckets', { project: 'shop@acme', buckets: 1001 })).toMatchObject({ ok: false });
    await result(ask('project remove', { project: 'shop@acme' }));
    await result(ask('customer remove', { customer: 'acme' }));
    expect(await result(ask('customer list'))).toEqual([]);
  });

  it.each([
    ['key make', {}, 'there is no command "key make"'],
    ['toString', {}, 'there is no command "toString"'],
    ['customer create', {}, 'customer create: customer must be a text'],
    ['customer create', { customer: '' }, 'customer create: customer must be a text'],
    ['customer create', { customer: 'acme', id: 1 }, 'customer create does not take id'],
    ['key create', { user: 'a:b@c', random: 'yes' }, 'key create: random must be true or false'],
    ['quota set', { bucket: 'b', bytes: -1 }, 'quota set: bytes must be a whole number, not below 0'],
    ['quota show', { bucket: 'nowhere' }, 'NoSuchBucket'],
    ['user show', { user: 'a:b@c' }, 'there is no project'],
  ])('refuses %s %j in words', async (command, given, words) => {
    const answer = await ask(command, given);
    expect(answer.ok).toBe(false);
    expect((answer as { error: string }).error).toContain(words);
  });

  it('has a command for each family of the command line', () => {
    const families = new Set(Object.keys(administrationCommands).map((name) => name.split(' ')[0]));
    expect([...families]).toEqual(['customer', 'project', 'user', 'key', 'quota']);
  });
});
