import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  GetBucketPolicyStatusCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  PutObjectAclCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditRecord } from '../../shared/audit/audit-record.ts';
import { sdk } from '../support/clients/clients.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { put } from '../support/storage/objects.ts';
import { accounts, bob, startService, type Service } from '../support/programs/server.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { freePort } from '../support/runs/free-port.ts';

/** What is taken down of who changed what, and what is not. */

let folder: string;
let adminPort: number;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-audit-'));
  adminPort = await freePort();
});
afterAll(() => rm(folder, { recursive: true }));

async function stillage(data: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runWarm([...args, '--data', data]);
  expect(code, stderr).toBe(0);
  return stdout;
}

async function records(data: string, ...args: string[]): Promise<AuditRecord[]> {
  return JSON.parse(await stillage(data, 'audit', '--json', ...args)) as AuditRecord[];
}

describe.each(['1', '2'])('the audit log of a service of %s processes', (workers) => {
  let data: string;
  let service: Service;
  beforeAll(async () => {
    data = join(folder, workers);
    service = await startService({ data, args: ['--workers', workers, '--admin-port', String(adminPort)] });
  });
  afterAll(() => service.stop());

  it('says who changed which setting from where, and who was refused', async () => {
    const [alice, stranger] = [sdk(service), sdk(service, bob)];
    await alice.send(new CreateBucketCommand({ Bucket: 'photos' }));
    const statement = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::photos/*' };
    const policy = { Bucket: 'photos', Policy: JSON.stringify({ Version: '2012-10-17', Statement: [statement] }) };
    await expect(stranger.send(new PutBucketPolicyCommand(policy))).rejects.toThrow('Access Denied');
    await alice.send(new PutBucketPolicyCommand(policy)).catch(() => undefined);
    await put(alice, 'photos', 'a key', 'content');
    await alice.send(new GetBucketPolicyStatusCommand({ Bucket: 'photos' })).catch(() => undefined);
    await alice
      .send(new PutObjectAclCommand({ Bucket: 'photos', Key: 'a key', ACL: 'private' }))
      .catch(() => undefined);
    await expect(stranger.send(new DeleteBucketCommand({ Bucket: 'photos' }))).rejects.toThrow('Access Denied');
    alice.destroy();
    stranger.destroy();
    await expect
      .poll(async () => (await records(data, '--bucket', 'photos')).map(({ event }) => event).sort())
      .toEqual(['CreateBucket', 'DeleteBucket', 'PutBucketPolicy', 'PutBucketPolicy', 'PutObjectAcl']);
    const found = await records(data, '--bucket', 'photos');
    expect(found.map(({ time }) => time)).toEqual(found.map(({ time }) => time).toSorted((a, b) => a - b));
    const refused = found.filter(({ by }) => by.kind === 'user' && by.user === 'bob');
    expect(refused.map(({ error }) => error)).toEqual(['AccessDenied', 'AccessDenied']);
    expect(refused[0]).toMatchObject({
      ...{ source: 's3', event: 'PutBucketPolicy', bucket: 'photos', address: '127.0.0.1', project: accounts[0].id },
      by: { kind: 'user', project: accounts[1].id, user: 'bob', key: bob.accessKeyId },
      agent: expect.stringContaining('aws-sdk-js') as string,
      requestId: expect.stringMatching(/^tx/) as string,
    });
    expect(found.find(({ event }) => event === 'PutObjectAcl')).toMatchObject({ bucket: 'photos', key: 'a key' });
  });

  it('says what was done on the machine and by operators, and no secret', async () => {
    await stillage(data, 'customer', 'create', 'acme');
    await stillage(data, 'project', 'create', 'shop@acme');
    await stillage(data, 'user', 'create', 'shop:ci@acme');
    await writeFile(join(folder, 'secret'), 'a-secret-that-nobody-sees');
    await stillage(data, 'key', 'create', 'shop:ci@acme', '--secret-file', join(folder, 'secret'));
    await stillage(data, 'customer', 'list');
    const [manage, read] = await Promise.all(
      ['manage', 'read'].map(async (scope) => {
        const file = join(folder, `${workers}-${scope}`);
        await writeFile(file, await stillage(data, 'operator', 'create', `by-${scope}`, '--scope', scope));
        return ['--endpoint', `http://127.0.0.1:${adminPort}`, '--token-file', file];
      }),
    );
    expect((await runWarm(['customer', 'suspend', 'acme', ...manage!])).code).toBe(0);
    expect((await runWarm(['customer', 'resume', 'acme', ...read!])).code).toBe(1);
    expect((await runWarm(['customer', 'create', 'acme', ...manage!])).code).toBe(1);
    const ofCommands = async (): Promise<AuditRecord[]> =>
      (await records(data)).filter(({ source }) => source === 'administration');
    await expect
      .poll(async () => (await ofCommands()).map(({ event, by, error }) => [event, by.kind, error ?? 'done']))
      .toEqual([
        ['customer create', 'machine', 'done'],
        ['project create', 'machine', 'done'],
        ['user create', 'machine', 'done'],
        ['key create', 'machine', 'done'],
        ['operator create', 'machine', 'done'],
        ['operator create', 'machine', 'done'],
        ['customer suspend', 'operator', 'done'],
        ['customer resume', 'operator', '403'],
        ['customer create', 'operator', '409'],
      ]);
    const suspended = (await ofCommands()).find(({ event }) => event === 'customer suspend');
    expect(suspended).toMatchObject({ by: { kind: 'operator', operator: 'by-manage' }, given: { customer: 'acme' } });
    expect(JSON.stringify(await records(data))).not.toContain('a-secret-that-nobody-sees');
  });

  it('has a line for each record in the form of CloudTrail, whatever a client calls itself', async () => {
    const client = new PooledClient(service);
    const agent = '"}\\n{"eventName":"Forged\u2028';
    const headers = { 'user-agent': Buffer.from(agent).toString('latin1') };
    await client.send({ method: 'PUT', path: '/photos', query: 'tagging', body: '<Tagging/>', headers });
    client.close();
    const lines = async (): Promise<string[]> =>
      (await stillage(data, 'audit', '--bucket', 'photos', '--lines')).trimEnd().split('\n');
    await expect.poll(async () => (await lines()).join()).toContain('PutBucketTagging');
    const all = (await lines()).map((line) => JSON.parse(line) as { eventName: string; userAgent: string });
    expect(all.map(({ eventName }) => eventName)).not.toContain('Forged');
    expect(all.find(({ eventName }) => eventName === 'PutBucketTagging')).toMatchObject({
      eventVersion: '1.11',
      eventSource: 's3.amazonaws.com',
      userIdentity: { type: 'IAMUser', userName: 'alice' },
      requestParameters: { bucketName: 'photos' },
    });
  });
});

describe.each(['1', '2'])('data events of a service of %s processes', (workers) => {
  let data: string;
  let service: Service;
  let [alice, stranger]: S3Client[] = [];
  beforeAll(async () => {
    data = join(folder, `data-events-${workers}`);
    service = await startService({ data, args: ['--workers', workers] });
    [alice, stranger] = [sdk(service), sdk(service, bob)];
    for (const Bucket of ['audited', 'other', 'writes']) await alice.send(new CreateBucketCommand({ Bucket }));
    await stranger.send(new CreateBucketCommand({ Bucket: 'of-bob' }));
    await stillage(data, 'bucket', 'audit', 'audited', 'all');
    expect(await stillage(data, 'bucket', 'audit', 'writes', 'writes')).toBe('the audit log takes writes of writes\n');
    await stillage(data, 'bucket', 'audit', 'of-bob', 'all');
    // Processes that have read a bucket lately may not know at once.
    await untilFound(async () => {
      await Promise.all(Array.from({ length: 8 }, () => put(alice!, 'audited', 'warm', 'x')));
      return (await ofData('audited')).length > 8 ? true : undefined;
    });
  });
  afterAll(async () => {
    alice!.destroy();
    stranger!.destroy();
    await service.stop();
  });

  const ofData = async (bucket: string): Promise<AuditRecord[]> =>
    (await records(data, '--bucket', bucket)).filter((record) => record.data !== undefined);
  const events = async (bucket: string): Promise<AuditRecord[]> =>
    (await ofData(bucket)).filter(({ key }) => key !== 'warm');

  it('are of reads and writes, of keys that were deleted together, and of who was refused', async () => {
    await put(alice!, 'audited', 'a', 'content');
    await alice!
      .send(new GetObjectCommand({ Bucket: 'audited', Key: 'a' }))
      .then(({ Body }) => Body!.transformToString());
    await alice!.send(new CopyObjectCommand({ Bucket: 'other', Key: 'copy', CopySource: 'audited/a' }));
    await alice!.send(new ListObjectsV2Command({ Bucket: 'audited' }));
    const stolen = new GetObjectCommand({ Bucket: 'audited', Key: 'a' });
    await expect(stranger!.send(stolen)).rejects.toThrow('Access Denied');
    const Delete = { Objects: [{ Key: 'a' }, { Key: 'gone' }, { Key: 'x', VersionId: '0'.repeat(32) }] };
    await alice!.send(new DeleteObjectsCommand({ Bucket: 'audited', Delete }));
    const seen = async (): Promise<unknown[]> =>
      (await events('audited')).map(({ event, key, data, by, error }) => [
        ...[event, key, data, by.kind === 'user' ? by.user : by.kind, error ?? 'done'],
      ]);
    await expect.poll(async () => (await seen()).length).toBe(8);
    expect((await seen()).sort()).toEqual(
      [
        ['CopyObject', 'a', 'read', 'alice', 'done'],
        ['DeleteObjects', 'a', 'write', 'alice', 'done'],
        ['DeleteObjects', 'gone', 'write', 'alice', 'done'],
        ['DeleteObjects', 'x', 'write', 'alice', 'done'],
        ['GetObject', 'a', 'read', 'alice', 'done'],
        ['GetObject', 'a', 'read', 'bob', 'AccessDenied'],
        ['ListObjectsV2', null, 'read', 'alice', 'done'],
        ['PutObject', 'a', 'write', 'alice', 'done'],
      ].map((row) => row.map((cell) => cell ?? undefined)),
    );
    expect(await events('other')).toEqual([]);
    const [line] = (await stillage(data, 'audit', '--bucket', 'audited', '--lines'))
      .split('\n')
      .filter((one) => one.includes('CopyObject'));
    expect(JSON.parse(line!)).toMatchObject({
      ...{ eventCategory: 'Data', managementEvent: false, readOnly: true, recipientAccountId: accounts[0].id },
      resources: [{ ARN: 'arn:aws:s3:::audited/a' }, { ARN: 'arn:aws:s3:::audited', accountId: accounts[0].id }],
    });
  });

  it('are of writes alone, of the object of a public link, and until they are turned off', async () => {
    await put(alice!, 'writes', 'a', 'content');
    await alice!
      .send(new GetObjectCommand({ Bucket: 'writes', Key: 'a' }))
      .then(({ Body }) => Body!.transformToString());
    await expect.poll(async () => (await events('writes')).map(({ event }) => event)).toEqual(['PutObject']);
    const { url } = JSON.parse(
      await stillage(data, 'link', 'create', 'writes', 'a', '--public-url', service.url, '--json'),
    ) as { url: string };
    await stillage(data, 'bucket', 'audit', 'writes', 'all');
    await expect
      .poll(async () => {
        expect((await fetch(url)).status).toBe(200);
        return (await events('writes')).find(({ event }) => event === 'GetPublicLink');
      })
      .toMatchObject({ key: 'a', data: 'read', by: { kind: 'anonymous' } });
    await stillage(data, 'bucket', 'audit', 'writes', 'none');
    await expect
      .poll(async () => {
        const before = (await events('writes')).length;
        const known = (await ofData('audited')).length;
        await put(alice!, 'writes', 'b', 'content');
        // What came after it is there.
        await put(alice!, 'audited', 'warm', 'last');
        await untilFound(async () => ((await ofData('audited')).length > known ? true : undefined));
        return (await events('writes')).length - before;
      })
      .toBe(0);
  });

  it('of one project are not those of another, whatever its keys and agents are called', async () => {
    const forged = '\n{"eventName":"Forged","recipientAccountId":"' + accounts[1].id + '"}\u2028\r';
    await put(alice!, 'audited', forged, 'content');
    await alice!.send(
      new DeleteObjectsCommand({ Bucket: 'audited', Delete: { Objects: [{ Key: forged }, { Key: 'two\nlines' }] } }),
    );
    await put(stranger!, 'of-bob', 'mine', 'content');
    const ofProject = async (id: string): Promise<string[]> =>
      (await stillage(data, 'audit', id, '--lines')).trimEnd().split('\n');
    await expect.poll(async () => (await ofProject(accounts[1].id)).join()).toContain('of-bob/mine');
    await expect.poll(async () => (await ofProject(accounts[0].id)).join()).toContain('two\ufffdlines');
    for (const { id } of accounts) {
      const lines = (await ofProject(id)).map(
        (line) => JSON.parse(line) as { eventName: string; recipientAccountId: string },
      );
      expect(lines.length).toBeGreaterThan(0);
      expect(
        lines.filter(({ eventName, recipientAccountId }) => eventName === 'Forged' || recipientAccountId !== id),
      ).toEqual([]);
    }
    expect((await ofProject(accounts[1].id)).join()).not.toContain('audited');
    // Nobody but operators turns them on or off: no request for a setting of the bucket does.
    const client = new PooledClient(service);
    const { status } = await client.send({ method: 'PUT', path: '/audited', query: 'audit', body: 'none' });
    client.close();
    expect(status).toBeGreaterThanOrEqual(400);
    await put(alice!, 'audited', 'after', 'content');
    await expect.poll(async () => (await events('audited')).map(({ key }) => key)).toContain('after');
  });
});

it('counts the data events for which there was no room in the metrics', async () => {
  const token = join(folder, 'metrics-token');
  await writeFile(token, 'a-token-of-metrics');
  const at = join(folder, 'crowded');
  const service = await startService({ data: at, args: ['--workers', '1', '--metrics-token-file', token] });
  const client = sdk(service);
  await client.send(new CreateBucketCommand({ Bucket: 'crowded' }));
  await stillage(at, 'bucket', 'audit', 'crowded', 'writes');
  const lost = async (): Promise<number> => {
    const headers = { authorization: 'Bearer a-token-of-metrics' };
    const text = await (await fetch(`${service.url}/_stillage/metrics`, { headers })).text();
    return Number(/^stillage_audit_lost_records_total\{process="primary",category="data"\} (\d+)$/m.exec(text)![1]);
  };
  expect(await lost()).toBe(0);
  // Each has 1,000 keys: all that is taken in a second.
  const Objects = Array.from({ length: 1000 }, (_, at) => ({ Key: `key-${at}` }));
  const Delete = { Objects, Quiet: true };
  await expect
    .poll(async () => {
      await Promise.all([1, 2, 3].map(() => client.send(new DeleteObjectsCommand({ Bucket: 'crowded', Delete }))));
      return lost();
    })
    .toBeGreaterThan(0);
  client.destroy();
  expect(await service.stop()).toBe(0);
});

it('takes so much of what strangers cause, and says how much it has left out', async () => {
  const service = await startService({ data: join(folder, 'flood') });
  const client = new PooledClient(service);
  const refused = Array.from({ length: 400 }, () =>
    client.send({ method: 'PUT', path: '/no-such-bucket', query: 'tagging', body: '<Tagging/>' }),
  );
  const statuses = (await Promise.all(refused)).map(({ status }) => status);
  expect(statuses.every((status) => status >= 400)).toBe(true);
  client.close();
  const lost = (): number =>
    [...service.output.stdout.matchAll(/(\d{1,9}) audit records were lost/g)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  await expect.poll(async () => (await records(join(folder, 'flood'))).length + lost()).toBe(400);
  expect(lost()).toBeGreaterThan(0);
  expect(lost()).toBeLessThan(400);
  expect(await service.stop()).toBe(0);
});

it('keeps nothing with --audit-days 0', async () => {
  const service = await startService({ data: join(folder, 'off'), args: ['--audit-days', '0'] });
  const client = sdk(service);
  await client.send(new CreateBucketCommand({ Bucket: 'photos' }));
  client.destroy();
  expect(await service.stop()).toBe(0);
  expect(await records(join(folder, 'off'))).toEqual([]);
});
