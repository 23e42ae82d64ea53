import { asService, byOperator } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { administer, type AdministrationAnswer } from '../../../../functions/admin/administer.ts';
import { administrationDeps } from '../../../../functions/admin/deps.ts';
import type { AdministrationDeps } from '../../../../functions/admin/command.ts';
import { administrationCommands } from '../../../../local/cli/commands/administration-commands.ts';
import { families } from '../../../../local/cli/commands/families.ts';
import type { NewKey } from '../../../../shared/accounts/key-administration.ts';
import { CryptoRandomness } from '../../../../shared/adapters/system/crypto-randomness.ts';
import { noObjectAttributes } from '../../../../shared/storage/versions/object-attributes.ts';
import { defaultLimits } from '../../../../shared/protocol/limits.ts';
import { alarmAdapters, SetClock } from '../../../support/storage/fixed-deps.ts';
import { ephemeralStores } from '../../../../local/server/data-directory/ephemeral-stores.ts';
import { expectDescribed } from '../../../support/storage/described.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';

let deps: AdministrationDeps;
let ask: (command: string, given?: object) => Promise<AdministrationAnswer>;
beforeEach(() => {
  deps = administrationDeps({
    ...alarmAdapters,
    ...{ table: new MemoryTable(), clock: new SetClock(), randomness: new CryptoRandomness() },
    blobs: ephemeralStores(new CryptoRandomness()).blobs,
    settings: {
      limits: defaultLimits,
      endpoint: 'https://s3.test',
      publicUrl: 'https://links.test',
      region: 'mars',
      auditsData: true,
    },
  });
  ask = async (command, given = {}) => {
    const answer = await administer(administrationCommands, deps, { command, ...given });
    if (answer.ok) expectDescribed(command, answer.result);
    return answer;
  };
});

const result = async (answer: Promise<AdministrationAnswer>): Promise<unknown> => {
  const given = await answer;
  if (!given.ok) throw new Error(given.error);
  return given.result;
};

async function user(): Promise<void> {
  await result(ask('customer create', { customer: 'acme' }));
  await result(ask('project create', { project: 'shop@acme', displayName: 'The shop' }));
  await result(ask('user create', { user: 'shop:ci@acme', without: ['monitoring'] }));
}

describe('administration', () => {
  it('has no jobs where no service runs', async () => {
    for (const [command, given] of [
      ['job start', { job: 'scrub' }],
      ['job list', {}],
      ['job show', { id: 'one' }],
      ['job cancel', { id: 'one' }],
    ] as const) {
      expect(await ask(command, given)).toEqual({ ok: false, error: expect.stringContaining('--endpoint') as string });
    }
  });

  it('makes customers, projects, users and keys, and shows them', async () => {
    await user();
    const { accessKeyId } = (await result(ask('key create', { user: 'shop:ci@acme', random: true }))) as NewKey;
    expect(await result(ask('customer list'))).toMatchObject({ customers: [{ customer: 'acme' }] });
    expect(await result(ask('customer show', { customer: 'acme' }))).toMatchObject({
      projects: [{ email: 'shop@acme' }],
    });
    expect(await result(ask('project list'))).toMatchObject({ projects: [{ displayName: 'The shop' }] });
    expect(await result(ask('user list', { project: 'shop@acme' }))).toMatchObject({ users: [{ name: 'ci' }] });
    expect(await result(ask('project show', { project: 'shop@acme' }))).toMatchObject({ buckets: 0 });
    expect(await result(ask('user show', { user: 'shop:ci@acme' }))).toMatchObject({ privileges: [] });
    expect(await result(ask('key list', { of: 'shop@acme' }))).toMatchObject({ keys: [{ accessKeyId }] });
    expect(JSON.stringify(await result(ask('key show', { key: accessKeyId })))).not.toContain('secret');
  });

  it('shows, gives and takes the policies of users', async () => {
    await user();
    const of = { user: 'shop:ci@acme' };
    const policies = async (): Promise<unknown> => result(ask('policy list', of));
    const document = JSON.stringify({ Statement: [{ Effect: 'Allow', Action: 's3:GetObject', Resource: '*' }] });
    expect(await policies()).toEqual([{ policy: 'FullAccess', kind: 'managed' }]);
    expect(await result(ask('policy show', { ...of, policy: 'FullAccess' }))).toContain('"s3:*"');
    await result(ask('policy put', { ...of, policy: 'mine', document }));
    await result(ask('policy attach', { ...of, policy: 'arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess' }));
    await result(ask('policy attach', { ...of, policy: 'AmazonS3ReadOnlyAccess' }));
    await result(ask('policy detach', { ...of, policy: 'FullAccess' }));
    expect(await policies()).toEqual([
      { policy: 'AmazonS3ReadOnlyAccess', kind: 'managed' },
      { policy: 'mine', kind: 'inline' },
    ]);
    expect(await result(ask('policy show', { ...of, policy: 'mine' }))).toBe(document);
    expect(await result(ask('user show', of))).toMatchObject({ policies: ['AmazonS3ReadOnlyAccess', 'mine'] });
    await result(ask('policy remove', { ...of, policy: 'mine' }));
    await result(ask('policy detach', { ...of, policy: 'AmazonS3ReadOnlyAccess' }));
    expect(await policies()).toEqual([]);
    await result(ask('user create', { user: 'shop:limited@acme', policy: document }));
    expect(await result(ask('policy list', { user: 'shop:limited@acme' }))).toEqual([
      { policy: 'access', kind: 'inline' },
    ]);
  });

  it.each([
    ['policy show', { policy: 'none' }, 'has no policy "none"'],
    ['policy remove', { policy: 'none' }, 'has no inline policy "none"'],
    ['policy attach', { policy: 'Everything' }, 'there is no managed policy "Everything"; there are: FullAccess'],
    ['policy detach', { policy: 'AmazonS3FullAccess' }, 'AmazonS3FullAccess is not attached to shop:ci@acme'],
    ['policy put', { policy: 'a b', document: '{}' }, '"a b" is not a valid name of a policy'],
    ['policy put', { policy: 'a', document: '[]' }, 'the policy is not valid: A policy must be a JSON object'],
    [
      'policy put',
      {
        policy: 'a',
        document: JSON.stringify({
          Statement: { Effect: 'Deny', Action: '*', Resource: `arn:aws:s3:::${'a'.repeat(2048)}` },
        }),
      },
      'characters, of 2048',
    ],
  ])('refuses %s %j of a user', async (command, given, words) => {
    await user();
    const answer = await ask(command, { user: 'shop:ci@acme', ...given });
    expect(answer).toMatchObject({ ok: false, error: expect.stringContaining(words) as unknown });
  });

  it.each([
    ['webhook add', { name: 'a b', url: 'https://a.example', batch: 1, format: 's3' }, 'The name of a webhook'],
    ['webhook add', { name: 'a', url: 'file:///etc/passwd', batch: 1, format: 's3' }, 'must begin with https://'],
    ['webhook add', { name: 'a', url: 'https://a.example', batch: 0, format: 's3' }, 'batch must be'],
    ['webhook add', { name: 'a', url: 'https://a.example', batch: 101, format: 's3' }, 'batch must be'],
    ['webhook add', { name: 'a', url: 'https://a.example', batch: 2, format: 'cloudevents' }, 'batch must be 1'],
    ['webhook add', { name: 'a', url: 'https://a.example', batch: 1, format: 'xml' }, 'format must be one of'],
    ['webhook rotate', { name: 'none' }, 'NoSuchWebhook'],
    ['webhook remove', { name: 'none' }, 'NoSuchWebhook'],
    ['events show', { id: 'none' }, 'there is no event "none"'],
    ['events replay', { id: 'none' }, 'there is no event "none"'],
  ])('refuses %s %j of a project', async (command, given, words) => {
    await user();
    const answer = await ask(command, { project: 'shop@acme', ...given });
    expect(answer).toMatchObject({ ok: false, error: expect.stringContaining(words) as unknown });
  });

  it('has webhooks of projects, not too many, which go with them', async () => {
    await user();
    const of = { project: 'shop@acme', url: 'https://a.example', batch: 1, format: 's3' };
    const { webhooksPerProject } = defaultLimits;
    for (let at = 0; at < webhooksPerProject; at += 1) await result(ask('webhook add', { ...of, name: `hook-${at}` }));
    expect(await ask('webhook add', { ...of, name: 'more' })).toMatchObject({ ok: false });
    await result(ask('webhook remove', { project: 'shop@acme', name: 'hook-0' }));
    expect(await ask('webhook add', { ...of, name: 'hook-1' })).toMatchObject({ ok: false });
    expect(await result(ask('webhook list', { project: 'shop@acme' }))).toHaveLength(webhooksPerProject - 1);
    await result(ask('user remove', { user: 'shop:ci@acme' }));
    const { id } = await deps.accounts.project('shop@acme');
    await result(ask('project remove', { project: 'shop@acme' }));
    expect(await deps.webhooks.of(id)).toEqual([]);
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
    const rotated = await result(ask('key rotate', { key: accessKeyId, overlapSeconds: 7200 }));
    expect(rotated).toMatchObject({ formerUntil: new SetClock().time + 2 * 3_600_000 });
    await result(ask('key remove', { key: accessKeyId }));
    await result(ask('user remove', { user: 'shop:ci@acme' }));
    await result(ask('quota set project', { project: 'shop@acme', buckets: 3 }));
    expect(await ask('quota set project', { project: 'shop@acme', buckets: 1001 })).toMatchObject({ ok: false });
    expect(await result(ask('quota show project', { project: 'shop@acme' }))).toMatchObject({ buckets: { quota: 3 } });
    await result(ask('project remove', { project: 'shop@acme' }));
    await result(ask('customer remove', { customer: 'acme' }));
    expect(await result(ask('customer list'))).toEqual({ customers: [] });
  });

  it('lists customers, projects, users and keys page by page, as many as are asked for', async () => {
    await user();
    for (const customer of ['b', 'c']) await result(ask('customer create', { customer }));
    expect(await result(ask('customer list', { limit: 2 }))).toMatchObject({
      ...{ customers: [{ customer: 'acme' }, { customer: 'b' }], next: 'b' },
    });
    expect(await result(ask('customer list', { limit: 2, after: 'b' }))).toEqual({
      customers: [expect.objectContaining({ customer: 'c' })],
    });
    await result(ask('project create', { project: 'bar@acme' }));
    const first = { customer: 'acme', limit: 1 };
    expect(await result(ask('project list', first))).toMatchObject({ next: 'bar@acme' });
    expect(await result(ask('project list', { ...first, after: 'bar@acme' }))).toEqual({
      projects: [expect.objectContaining({ email: 'shop@acme' })],
    });
    expect(await ask('project list', { customer: 'nobody' })).toMatchObject({ ok: false });
    await result(ask('user create', { user: 'shop:a@acme' }));
    expect(await result(ask('user list', { project: 'shop@acme', limit: 1 }))).toMatchObject({ next: 'a' });
    for (const id of ['k:1', 'k:2']) await result(ask('key create', { user: 'shop:ci@acme', id }));
    for (const of of ['shop@acme', 'shop:ci@acme']) {
      expect(await result(ask('key list', { of, limit: 1 }))).toMatchObject({ next: 'ci:k:1' });
      expect(await result(ask('key list', { of, after: 'ci:k:1' }))).toMatchObject({ keys: [{ accessKeyId: 'k:2' }] });
    }
    const many = Array.from({ length: 200 }, (_, at) => `d${String(at).padStart(3, '0')}`);
    for (const customer of many) await deps.accounts.createCustomer(customer);
    expect(await result(ask('customer list'))).toMatchObject({ next: 'd196' });
  });

  it('has the audit log take requests for the data of a bucket, where there is one', async () => {
    await user();
    const { id } = await deps.accounts.project('shop@acme');
    await deps.buckets.create(byOperator, 'photos', id, 1000);
    const audited = async (): Promise<unknown> => (await deps.buckets.load('photos')).audited;
    for (const requests of ['writes', 'all', 'none']) {
      await result(ask('bucket audit', { bucket: 'photos', requests }));
      expect(await audited()).toBe(requests === 'none' ? undefined : requests);
    }
    deps = { ...deps, settings: { ...deps.settings, auditsData: false } };
    const refused = { ok: false, error: expect.stringContaining('has no audit log that takes requests') as string };
    expect(await ask('bucket audit', { bucket: 'photos', requests: 'all' })).toEqual(refused);
    expect(await result(ask('bucket audit', { bucket: 'photos', requests: 'none' }))).toBeNull();
    expect(await audited()).toBeUndefined();
  });

  it('lists the buckets of a project page by page', async () => {
    await user();
    const { id } = (await result(ask('project show', { project: 'shop@acme' }))) as { id: string };
    const names = Array.from({ length: 201 }, (_, at) => `bucket-${String(at).padStart(3, '0')}`);
    for (const name of names) await deps.buckets.create(byOperator, name, id, 1000);
    interface Page {
      readonly buckets: readonly { readonly bucket: string }[];
      readonly next?: string;
    }
    const first = (await result(ask('bucket list', { project: 'shop@acme' }))) as Page;
    const second = (await result(ask('bucket list', { project: id, after: first.next }))) as Page;
    expect([...first.buckets, ...second.buckets].map(({ bucket }) => bucket)).toEqual(names);
    expect([first.next, second.next]).toEqual(['bucket-199', undefined]);
    expect(first.buckets[0]).toMatchObject({ project: 'shop@acme', objects: 0, bytes: 0 });
  });

  it('lists locked versions page by page, of one key as of many', async () => {
    await user();
    const { id } = (await result(ask('project show', { project: 'shop@acme' }))) as { id: string };
    await deps.buckets.create(byOperator, 'backups', id, 1000, { objectLock: {} });
    const legalHold = 'ON';
    const put = async (key: string, lock: { readonly legalHold?: 'ON' } = {}): Promise<void> => {
      await deps.objects.put(asService(await deps.buckets.load('backups'), key), {
        ...{ marker: false, size: 0, md5: new Uint8Array(16), owner: id, content: { kind: 'blob', ref: key } },
        ...{ contentType: undefined, checksum: undefined, encryption: undefined },
        ...{ objectAttributes: noObjectAttributes, ...lock },
      });
    };
    await put('many', { legalHold });
    for (let at = 0; at < 1000; at += 1) await put('many');
    await put('none');
    for (let at = 0; at < 200; at += 1) await put(`one-${String(at).padStart(3, '0')}`, { legalHold });
    interface Page {
      readonly locked: readonly { readonly key: string; readonly hold: boolean }[];
      readonly next?: object;
    }
    const pages: Page[] = [];
    for (let next: object | undefined = {}; next !== undefined; next = pages.at(-1)!.next)
      pages.push((await result(ask('bucket locks', { bucket: 'backups', ...next }))) as Page);
    const found = pages.flatMap(({ locked }) => locked);
    expect(found.map(({ key }) => key)).toEqual([
      'many',
      ...Array.from({ length: 200 }, (_, at) => `one-${String(at).padStart(3, '0')}`),
    ]);
    expect(found[0]).toEqual({ key: 'many', versionId: expect.any(String) as string, hold: true });
    expect(pages.map(({ locked }) => locked.length)).toEqual([0, 199, 2]);
  });

  it.each([
    ['customer list', { limit: 0 }, 'customer list: limit must be a whole number from 1 to 1000'],
    ['customer list', { limit: 1001 }, 'limit must be a whole number from 1 to 1000'],
    ['key list', { of: 'a@b', limit: '5' }, 'key list: limit must be a whole number from 1 to 1000'],
    ['customer list', { after: '' }, 'customer list: after must be the next of another page of this list'],
    ['customer list', { after: 'a\nb' }, 'after must be the next of'],
    ['customer list', { after: 'x'.repeat(65) }, 'after must be the next of'],
    ['customer list', { after: 7 }, 'after must be the next of'],
    ['project list', { after: 'shop' }, 'project list: after must be the next of'],
    ['project list', { after: '@' }, 'after must be the next of'],
    ['project list', { after: 'a@b@c' }, 'after must be the next of'],
    ['project list', { after: 'a/b@c' }, 'after must be the next of'],
    ['project list', { customer: 'acme', after: 'shop@other' }, 'project list: after must be the next of'],
    ['user list', { project: 'a@b', after: 'x/y' }, 'user list: after must be the next of'],
    ['user list', { project: 'a@b', after: 'policy:' }, 'user list: after must be the next of'],
    ['key list', { of: 'a@b', after: 'ci' }, 'key list: after must be the next of'],
    ['key list', { of: 'a@b', after: 'ci:' }, 'key list: after must be the next of'],
    ['key list', { of: 'a@b', after: 'ci:a b' }, 'key list: after must be the next of'],
    ['key list', { of: 'a:ci@b', after: 'other:AK' }, 'key list: after must be the next of'],
    ['audit', { after: 'yesterday' }, 'audit: after must be the next of'],
    ['audit', { after: '2026-99-99 AP6w61-P' }, 'audit: after must be the next of'],
    ['audit', { after: '2026-11-20' }, 'audit: after must be the next of'],
    ['bucket audit', { bucket: 'b', requests: 'reads' }, 'requests must be one of none, writes, all'],
    ['bucket audit', { bucket: 'b' }, 'requests must be one of none, writes, all'],
    ['bucket audit', { bucket: 'nowhere', requests: 'all' }, 'NoSuchBucket'],
    ['key make', {}, 'unknown command "key make"'],
    ['toString', {}, 'unknown command "toString"'],
    ['customer create', {}, 'customer create: customer must be a string'],
    ['customer create', { customer: '' }, '"" is not a valid customer name'],
    ['link list', { bucket: 'b', key: '' }, 'link list: key must be a string that is not empty'],
    ['user create', { user: 'a:b@c', without: 'monitoring' }, 'user create: without must be a list of strings'],
    ['quota set project', { project: 'a@b', buckets: 'many' }, 'buckets must be a whole number of at least 0, or "def'],
    ['alarm put', { bucket: 'b', alarm: 'a', fields: { Metric: 1 } }, 'fields must be an object of strings'],
    ['metrics show', { bucket: 'b', metric: 'Size', statistic: 'Sum', last: 1 }, 'unknown metric "Size"'],
    ['usage', { project: 'a@b', month: 'may' }, 'there is no project'],
    ['customer create', { customer: 'acme', id: 1 }, 'customer create does not take id'],
    ['key create', { user: 'a:b@c', random: 'yes' }, 'key create: random must be true or false'],
    ['quota set bucket', { bucket: 'b', bytes: -1 }, 'quota set bucket: bytes must be a whole number of at least 0'],
    ['quota show bucket', { bucket: 'nowhere' }, 'NoSuchBucket'],
    ['bucket locks', { bucket: 'nowhere' }, 'NoSuchBucket'],
    ['bucket locks', { bucket: 'b', after: '' }, 'bucket locks: after must be a string that is not empty'],
    ['link create', { bucket: 'b', key: 'k', expiresSeconds: 86_401 }, 'a link may be valid for 1 to 86400 seconds'],
    ['user show', { user: 'a:b@c' }, 'there is no project'],
    ['user create', { user: 'a:b@c', policy: '{}' }, 'the policy is not valid: Missing required field Statement'],
  ])('refuses %s %j in words', async (command, given, words) => {
    const answer = await ask(command, given);
    expect(answer.ok).toBe(false);
    expect((answer as { error: string }).error).toContain(words);
  });

  it('has a command for each family of the command line, but for those of a data directory', () => {
    const named = new Set(administrationCommands.map(({ name }) => name.split(' ')[0]));
    const all = families.map(({ name }) => name);
    expect(all.filter((name) => !named.has(name))).toEqual([
      'start',
      'operator',
      'run',
      'release',
      'backup',
      'restore',
      'import',
      'export',
      'migrate',
      'scrub',
      'doctor',
      'compact',
    ]);
  });
});
