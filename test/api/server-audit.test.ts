import {
  CreateBucketCommand,
  DeleteBucketCommand,
  GetBucketPolicyStatusCommand,
  PutBucketPolicyCommand,
  PutObjectAclCommand,
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
