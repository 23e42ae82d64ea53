import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Job } from '../../functions/admin/jobs.ts';
import { administrationCommands } from '../../local/cli/commands/administration-commands.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { startService, type Service } from '../support/programs/server.ts';
import { freePort } from '../support/runs/free-port.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { expectDescribed } from '../support/storage/described.ts';

/** The API of operators, as a client asks that was generated from its description. */

type Ask = (options: {
  readonly body: object;
}) => Promise<{ readonly data: unknown; readonly error: unknown; readonly response: Response }>;

let folder: string;
let service: Service;
let client: Readonly<Record<string, Ask>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-client-'));
  const port = await freePort();
  const data = join(folder, 'data');
  service = await startService({ data, args: ['--admin-port', String(port)] });
  const token = (await runWarm(['operator', 'create', 'client', '--scope', 'manage', '--data', data])).stdout.trim();
  const baseUrl = `http://127.0.0.1:${port}`;
  const description = await fetch(`${baseUrl}/_stillage/admin/v1/openapi.json`);
  const output = join(folder, 'client');
  await createClient({
    input: (await description.json()) as Record<string, unknown>,
    output,
    logs: { level: 'silent' },
  });
  const generated = (await import(join(output, 'client.gen.ts'))) as { client: { setConfig(config: object): void } };
  generated.client.setConfig({ baseUrl, auth: token });
  client = (await import(join(output, 'sdk.gen.ts'))) as typeof client;
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

const asked = new Set<string>();

/** Carries a command out by the function that was generated for it, and expects the result that its description promises. */
async function ask<Result>(command: string, body: object = {}): Promise<Result> {
  asked.add(command);
  const name = command.replaceAll(/[ -](\w)/g, (_, letter: string) => letter.toUpperCase());
  const { data, error, response } = await client[name]!({ body });
  expect(error, command).toBeUndefined();
  expect(response.status, command).toBe(200);
  // The client makes an empty object of null.
  const text = response.headers.get('content-length') === '4' ? null : data;
  expectDescribed(command, text);
  return data as Result;
}

describe('a client that is generated from the description', () => {
  it('carries out every command, and gets the results that are described', { timeout: 120_000 }, async () => {
    const [customer, project, user, bucket] = ['acme', 'shop@acme', 'shop:ci@acme', 'photos'];
    await ask('customer create', { customer });
    await ask('project create', { project, displayName: 'The shop' });
    await ask('user create', { user });
    const { accessKeyId, secretAccessKey } = await ask<{ accessKeyId: string; secretAccessKey: string }>('key create', {
      user,
    });
    const s3 = new PooledClient(service, { accessKeyId, secretAccessKey });
    const done = async (method: string, path: string, query = '', body = ''): Promise<void> => {
      const { status, text } = await s3.send({ method, path, query, body });
      expect(status, text).toBeLessThan(300);
    };
    await done('PUT', `/${bucket}`);
    await done('PUT', `/${bucket}/cat.jpg`, '', 'meow');
    await done(
      'PUT',
      `/${bucket}`,
      'policy',
      JSON.stringify({
        Statement: [
          { Effect: 'Deny', Principal: '*', Action: 's3:PutObjectAcl', Resource: `arn:aws:s3:::${bucket}/*` },
        ],
      }),
    );

    for (const kind of ['customer', 'project', 'user'] as const) {
      const named = { [kind]: { customer, project, user }[kind] };
      await ask(`${kind} list`, kind === 'user' ? { project } : {});
      await ask(`${kind} suspend`, named);
      await ask(`${kind} resume`, named);
      await ask(`${kind} show`, named);
    }
    await ask('project root', { user });
    await ask('user revoke', { user, privilege: 'monitoring' });
    await ask('user grant', { user, privilege: 'monitoring' });

    const document = JSON.stringify({ Statement: [{ Effect: 'Allow', Action: 's3:GetObject', Resource: '*' }] });
    await ask('policy put', { user, policy: 'reads', document });
    expect(await ask('policy show', { user, policy: 'reads' })).toBe(document);
    await ask('policy attach', { user, policy: 'AmazonS3ReadOnlyAccess' });
    expect(await ask('policy list', { user })).toHaveLength(3);
    await ask('policy detach', { user, policy: 'AmazonS3ReadOnlyAccess' });
    await ask('policy remove', { user, policy: 'reads' });

    await ask('key list', { of: project });
    await ask('key rotate', { key: accessKeyId, overlapSeconds: 3600 });
    await ask('key show', { key: accessKeyId });
    await ask('key suspend', { key: accessKeyId });
    await ask('key resume', { key: accessKeyId });
    await ask('env', { key: accessKeyId });

    await ask('quota set project', { project, buckets: 7 });
    await ask('quota show project', { project });
    await ask('quota set bucket', { bucket, bytes: 1000, objects: 'default' });
    await ask('quota show bucket', { bucket });
    await ask('usage', { project });

    await ask('bucket list', { project });
    await ask('bucket contents', { bucket });
    await ask('bucket locks', { bucket });
    await ask('bucket audit', { bucket, requests: 'all' });
    await done('GET', `/${bucket}/cat.jpg`);
    await ask('bucket remove-policy', { bucket });

    const { id } = await ask<{ id: string }>('link create', { bucket, key: 'cat.jpg', expiresSeconds: 60 });
    expect(await ask('link list', { bucket, key: 'cat.jpg' })).toHaveLength(1);
    await ask('link revoke', { bucket, key: 'cat.jpg', id });

    await ask('monitoring enable', { bucket });
    await ask('monitoring show', { bucket });
    await ask('metrics show', { bucket, metric: 'NumberOfObjects', statistic: 'Maximum', last: 3_600_000 });
    const fields = {
      ...{ Metric: 'NumberOfObjects', Statistic: 'Maximum', ComparisonOperator: 'GreaterThanThreshold' },
      ...{ Threshold: '10', Period: '300', EvaluationPeriods: '1', Description: 'many objects' },
    };
    await ask('alarm put', { bucket, alarm: 'many', fields });
    await ask('alarm list', { bucket });
    await ask('alarm show', { bucket, alarm: 'many' });
    await ask('alarm history', { bucket, alarm: 'many' });
    await ask('alarm remove', { bucket, alarm: 'many' });
    await ask('monitoring disable', { bucket });

    const webhook = { project, name: 'pictures', url: 'https://hooks.example.com/pictures', batch: 1, format: 's3' };
    await ask('webhook add', webhook);
    await ask('webhook list', { project });
    await ask('webhook rotate', { project, name: 'pictures' });
    await ask('events list', { project });
    await ask('events replay', { project });
    await ask('webhook remove', { project, name: 'pictures' });

    const { id: job } = await ask<Job>('job start', { job: 'scrub', content: true });
    const again = await client['jobStart']!({ body: { job: 'scrub' } });
    expect(again.error).toMatchObject({ status: 409, detail: `a scrub is running already: ${job}` });
    await untilFound(async () => (await ask<Job>('job show', { id: job })).state !== 'running');
    expect(await ask('job show', { id: job })).toMatchObject({ state: 'done', result: { findings: [] } });
    const { id: other } = await ask<Job>('job start', { job: 'release' });
    expect(await ask('job cancel', { id: other })).toMatchObject({ state: 'cancelled' });
    expect(await ask('job list')).toMatchObject([{ id: job }, { id: other }]);

    await untilFound(async () => {
      const { records } = await ask<{ records: { event: string }[] }>('audit', { since: 3_600_000, bucket });
      return records.some(({ event }) => event === 'GetObject');
    });
    const { id: bucketId } = await ask<{ id: string }>('bucket contents', { bucket });
    for (let isDone = false; !isDone;)
      ({ done: isDone } = await ask<{ done: boolean }>('bucket empty', { bucket, id: bucketId }));
    await ask('bucket remove', { bucket, id: bucketId });
    for (let after: string | undefined, more = true; more;) {
      const page = await ask<{ keys: { accessKeyId: string }[]; next?: string }>('key list', {
        ...{ of: project, limit: 1 },
        ...(after !== undefined && { after }),
      });
      for (const { accessKeyId: key } of page.keys) await ask('key remove', { key });
      after = page.next;
      more = after !== undefined;
    }
    await ask('user remove', { user });
    await ask('project remove', { project });
    await ask('customer remove', { customer });
    s3.close();

    // Only a project with an event that was given up has one to show: test/api/bucket-notification.test.ts.
    const left = administrationCommands.map(({ name }) => name).filter((name) => !asked.has(name));
    expect(left).toEqual(['events show']);
  });

  it.each([
    ['jobStart', { job: 'backup' }, 'the service has no target for backups: start it with --backup-to'],
    ['jobStart', { job: 'release', repair: true }, 'a release has no options'],
    ['jobStart', { job: 'rm -rf /' }, 'job must be one of scrub, release, backup'],
    ['jobShow', { id: '../x' }, 'there is no job "../x": the service may have been restarted'],
    ['jobCancel', { id: 'nothing' }, 'there is no job "nothing": the service may have been restarted'],
  ])('is refused jobs that cannot be (%s, %j)', async (name, body, detail) => {
    const { error } = await client[name]!({ body });
    expect(error).toMatchObject({ status: 409, detail });
  });

  it('gets refusals as problem details', async () => {
    const { error, response } = await client['customerShow']!({ body: { customer: 'nobody' } });
    expect([response.status, error]).toEqual([409, expect.objectContaining({ detail: expect.any(String) as string })]);
  });
});
