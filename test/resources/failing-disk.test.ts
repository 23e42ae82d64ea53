import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { blobsBelow } from '../support/disks/blobs-on-disk.ts';
import { textOf } from '../support/clients/expect-error.ts';
import { PooledClient, type PooledResponse } from '../support/clients/pooled-client.ts';
import { runProgram } from '../support/programs/program.ts';
import { expectScrubClean } from '../support/storage/scrub-clean.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { queryOf } from '../support/clients/signer.ts';
import { FailingCalls, type FailingCall } from './failing-calls.ts';
import { eventually } from '../support/runs/eventually.ts';

const large = 600_000;
const blobs = '/blobs/';
const table = '/data.mdb';
const ok = '{"status":"ok"}\n';
const unwritable = '{"status":"ok","writable":false}\n';

let calls: FailingCalls | string;
let folder: string;
let service: Service;
let client: PooledClient;
/** The bodies of all acknowledged objects. */
const acknowledged = new Map<string, Buffer>();

beforeAll(async () => {
  calls = await FailingCalls.build();
  if (typeof calls === 'string') return;
  folder = await mkdtemp(join(tmpdir(), 'stillage-failing-disk-'));
  // The scrub would read large bodies as well, and log damage.
  service = await startService({ data: join(folder, 'data'), env: calls.environment, args: ['--scrub-rate', '0'] });
  client = new PooledClient(service, alice, 4);
  expect((await client.send({ method: 'PUT', path: '/bucket' })).status).toBe(200);
  expect(await put('small', 10)).toMatchObject({ status: 200 });
  expect(await put('large', large)).toMatchObject({ status: 200 });
});
beforeEach((context) => {
  if (typeof calls === 'string') context.skip(calls);
});
afterAll(async () => {
  if (typeof calls === 'string') return;
  client.close();
  await service.kill();
  await calls.remove();
  await rm(folder, { recursive: true });
});

let count = 0;
async function put(key: string, size: number): Promise<PooledResponse> {
  const body = Buffer.alloc(size, `body ${(count += 1)} `);
  const answer = await client.send({ method: 'PUT', path: `/bucket/${key}`, body });
  if (answer.status === 200) acknowledged.set(key, body);
  return answer;
}
const get = (key: string): Promise<PooledResponse> => client.send({ path: `/bucket/${key}` });

async function health(): Promise<[number, string]> {
  const response = await fetch(`${service.url}/_stillage/health`);
  const text = await response.text();
  return [response.status, response.status === 200 ? text : textOf(text, 'Code')!];
}

/** Expects a result of the readiness probe, which may be a second old. */
const expectHealth = (expected: [number, string]): Promise<void> =>
  eventually(async () => expect(await health()).toEqual(expected));

/** Returns the outcome of a request, without details. */
function outcome({ status, text, headers }: PooledResponse): string {
  if (status < 300) return String(status);
  expect(headers['retry-after']).toBe(status === 503 ? '1' : undefined);
  return `${status} ${textOf(text, 'Code')}`;
}

async function expectAcknowledged(): Promise<void> {
  for (const [key, body] of acknowledged) expect((await get(key)).body.equals(body), key).toBe(true);
}

type Kinds = readonly FailingCall['kind'][];
const slowDown = '503 SlowDown';
const internal = '500 InternalError';

describe('a disk that fails', () => {
  it.each<
    [
      string,
      FailingCall['error'],
      Kinds,
      string,
      Record<'small' | 'large' | 'read' | 'delete', string>,
      [number, string],
    ]
  >([
    [
      'is full',
      'ENOSPC',
      ['create', 'write'],
      '/data',
      { small: slowDown, large: slowDown, read: '200', delete: slowDown },
      [200, unwritable],
    ],
    [
      'is read-only',
      'EROFS',
      ['create', 'write', 'unlink'],
      '/data',
      { small: slowDown, large: slowDown, read: '200', delete: slowDown },
      [200, unwritable],
    ],
    [
      'has no handles left',
      'EMFILE',
      ['open'],
      blobs,
      { small: '200', large: slowDown, read: slowDown, delete: '204' },
      [503, 'SlowDown'],
    ],
    [
      'has no memory left',
      'ENOMEM',
      ['open', 'write'],
      blobs,
      { small: '200', large: slowDown, read: slowDown, delete: '204' },
      [503, 'SlowDown'],
    ],
    [
      'cannot write blobs',
      'EIO',
      ['write'],
      blobs,
      { small: '200', large: internal, read: '200', delete: '204' },
      [500, 'InternalError'],
    ],
    [
      'cannot sync blobs or their directories',
      'EIO',
      ['sync'],
      blobs,
      { small: '200', large: internal, read: '200', delete: '204' },
      [200, ok],
    ],
    [
      'cannot read blobs',
      'EIO',
      ['read'],
      blobs,
      { small: '200', large: '200', read: internal, delete: '204' },
      [200, ok],
    ],
    [
      'cannot remove blobs',
      'EIO',
      ['unlink'],
      '/blobs/0',
      { small: '200', large: '200', read: '200', delete: '204' },
      [200, ok],
    ],
    [
      'cannot write the table',
      'EIO',
      ['write'],
      table,
      { small: slowDown, large: slowDown, read: '200', delete: slowDown },
      [200, ok],
    ],
    [
      'cannot sync the table',
      'EIO',
      ['sync'],
      table,
      { small: slowDown, large: slowDown, read: '200', delete: slowDown },
      [200, ok],
    ],
  ])(
    'and %s (%s): the documented answers, nothing lost, and everything as before when it works again',
    async (_, error, kinds, path, expected, state) => {
      const failing = calls as FailingCalls;
      const lines = service.output.stdout.length;
      const deleted = `deleted-${count}`;
      failing.none();
      expect((await put(deleted, 10)).status).toBe(200);
      failing.fail(...kinds.map((kind) => ({ kind, error, path })));
      const [small, big] = [`small-${count}`, `large-${count}`];
      const told = {
        small: outcome(await put(small, 10)),
        large: outcome(await put(big, large)),
        read: outcome(await get('large')),
        delete: outcome(await client.send({ method: 'DELETE', path: `/bucket/${deleted}` })),
      };
      expect(told).toEqual(expected);
      if (told.delete === '204') acknowledged.delete(deleted);
      expect(outcome(await get('small'))).toBe('200');
      // Refused content cannot be read, now or later.
      for (const [key, answer] of [
        [small, told.small],
        [big, told.large],
      ] as const) {
        if (answer !== '200') expect((await get(key)).status).toBe(404);
      }
      await expectHealth(state);
      expect((await fetch(`${service.url}/_stillage/live`)).status).toBe(200);
      if (Object.values(told).some((one) => one.startsWith('5'))) {
        const cause = new RegExp(`"level":"error".*(?:${error === 'EIO' ? 'EIO|Input/output' : error})`);
        // A busy machine may take a while to write and read a line.
        await eventually(() => expect(service.output.stdout.slice(lines)).toMatch(cause));
      }

      failing.none();
      await expectHealth([200, ok]);
      expect(await put(small, 10)).toMatchObject({ status: 200 });
      expect(await put(big, large)).toMatchObject({ status: 200 });
      await expectAcknowledged();
    },
  );

  it('and cannot remove the parts of an upload that has ended: nothing else has to wait for that', async () => {
    const failing = calls as FailingCalls;
    failing.none();
    const path = '/bucket/uploaded';
    const { text } = await client.send({ method: 'POST', path, query: 'uploads' });
    const uploadId = textOf(text, 'UploadId')!;
    const part = { method: 'PUT', path, query: queryOf({ partNumber: '1', uploadId }), body: Buffer.alloc(large) };
    const others = new Set(await blobsBelow(service.data));
    expect((await client.send(part)).status).toBe(200);
    const [blob] = (await blobsBelow(service.data)).filter((ref) => !others.has(ref));
    expect(blob).toBeDefined();

    failing.fail({ kind: 'unlink', error: 'EIO', path: blobs });
    expect(outcome(await client.send({ method: 'DELETE', path, query: queryOf({ uploadId }) }))).toBe('204');
    // These follow all changes first.
    expect(outcome(await client.send({ method: 'HEAD', path: '/bucket' }))).toBe('200');
    const bucket = `bucket-${count}`;
    expect(outcome(await client.send({ method: 'PUT', path: `/${bucket}` }))).toBe('200');
    expect(outcome(await client.send({ method: 'PUT', path: `/${bucket}/first`, body: 'a' }))).toBe('200');
    expect(await blobsBelow(service.data)).toContain(blob);

    failing.none();
    expect(await runProgram(['release', '--data', service.data])).toMatchObject({ code: 0 });
    expect(await blobsBelow(service.data)).not.toContain(blob);
  });

  it('has lost nothing that was acknowledged when the process was killed, and nothing came back', async () => {
    const failing = calls as FailingCalls;
    failing.fail({ kind: 'sync', error: 'EIO', path: table }, { kind: 'sync', error: 'EIO', path: blobs });
    const refused = await Promise.all(
      Array.from({ length: 20 }, (_, at) => put(`refused-${at}`, at % 2 === 0 ? 10 : large)),
    );
    expect(refused.every(({ status }) => status >= 500)).toBe(true);
    service.process.kill('SIGKILL');
    await new Promise((resolve) => service.process.once('close', resolve));
    failing.none();
    client.close();
    const data = service.data;
    service = await startService({ data, env: failing.environment });
    client = new PooledClient(service, alice, 4);
    await expectAcknowledged();
    expect((await get('refused-0')).status).toBe(404);
    expect(await service.stop()).toBe(0);
    // Refused uploads may leave bytes without an owner, and nothing else.
    expect((await runProgram(['scrub', '--repair', '--data', data, '--min-age', '0'])).stderr).toBe('');
    await expectScrubClean(data);
  });

  it('lets a service start for reading while the table has no room, and write once it has', async () => {
    const failing = calls as FailingCalls;
    const { data } = service;
    client.close();
    await service.stop();
    failing.fail({ kind: 'write', error: 'ENOSPC', path: table });
    service = await startService({ data, env: failing.environment, args: ['--scrub-rate', '0'] });
    client = new PooledClient(service, alice, 4);
    await expectAcknowledged();
    expect(outcome(await put('refused', 10))).toBe(slowDown);
    failing.none();
    await eventually(async () => expect((await put('taken', 10)).status).toBe(200));
    expect(await service.stop()).toBe(0);
  });
});
