import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PooledClient, type PooledResponse } from '../support/clients/pooled-client.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import type { Unsigned } from '../support/clients/signer.ts';
import { workersOf } from '../support/programs/worker-processes.ts';

/** The time within which a request has an answer though a worker hangs: much less than until the worker is replaced. */
const promptly = 20_000;
/** The time within which a worker that hangs is replaced, in milliseconds. */
const replaced = 90_000;
/** Longer than a worker may be silent. */
const longSilence = 40_000;

const preload = join(import.meta.dirname, '../support/programs/busy-loop.mjs');

/** Starts a service of three processes, in which SIGUSR2 keeps a process busy. */
async function start({ args = [], busyFor = Infinity }: { args?: readonly string[]; busyFor?: number } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-hung-'));
  const env = { NODE_OPTIONS: `--import ${preload}`, BUSY_LOOP: String(busyFor) };
  const service = await startService({ data: join(folder, 'data'), args: ['--workers', '3', ...args], env });
  onTestFinished(async () => {
    for (const worker of await workersOf(service).catch(() => [])) process.kill(worker, 'SIGKILL');
    await service.kill();
    await rm(folder, { recursive: true });
  });
  return service;
}

/** Sends a request over a connection of its own; undefined if it is cut off or has no answer promptly. */
async function sendAlone(service: Service, request: Unsigned): Promise<PooledResponse | undefined> {
  const client = new PooledClient(service, alice, 1);
  try {
    const none = sleep(promptly, undefined, { ref: false });
    return await Promise.race([client.send(request).catch(() => undefined), none]);
  } finally {
    client.close();
  }
}

/** Returns the statuses of requests that are sent together, each over a connection of its own. */
async function statusesOf(
  service: Service,
  count: number,
  request: Unsigned,
): Promise<readonly (number | undefined)[]> {
  const answers = await Promise.all(Array.from({ length: count }, () => sendAlone(service, request)));
  return answers.map((answer) => answer?.status);
}

/** Returns how many files of blobs there are. */
async function blobFiles({ data }: Service): Promise<number> {
  const entries = await readdir(join(data, 'blobs'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && /^(?!store-)[\w-]{16,}/.test(entry.name)).length;
}

describe.each(['SIGSTOP', 'SIGUSR2'] as const)('a worker that hangs (%s)', (signal) => {
  it('gets no more connections, keeps no request waiting, and is replaced', async () => {
    const service = await start({ args: ['--limit', 'bucketObjects=3'] });
    const put = (key: string): Unsigned => ({
      method: 'PUT',
      path: `/bucket/${key}`,
      body: Buffer.alloc(100_000, key),
    });
    expect((await sendAlone(service, { method: 'PUT', path: '/bucket' }))?.status).toBe(200);
    for (const key of ['a', 'b', 'c']) expect((await sendAlone(service, put(key)))?.status).toBe(200);
    const before = await workersOf(service);
    const [hung] = before as [number];
    process.kill(hung, signal);

    // Many at once: the worker was sent one of them, which nobody else may serve.
    const burst = await statusesOf(service, 30, { path: '/bucket/a' });
    expect(burst.filter((status) => status !== 200).length).toBeLessThanOrEqual(1);
    expect(await statusesOf(service, 10, { path: '/bucket/a' })).toEqual(Array.from({ length: 10 }, () => 200));
    // Whether the worker still holds a part of the quota is not known.
    const refused = await sendAlone(service, put('d'));
    expect([refused?.status, refused?.headers['retry-after']]).toEqual([503, '1']);
    expect(refused?.text).toContain('<Code>SlowDown</Code>');
    expect(await workersOf(service)).toContain(hung);

    expect((await sendAlone(service, { method: 'DELETE', path: '/bucket/a' }))?.status).toBe(204);
    expect((await sendAlone(service, put('d')))?.status).toBe(200);
    await expect.poll(() => service.output.stdout, { timeout: replaced }).toContain('a worker was started');
    const after = await workersOf(service);
    expect([after.length, after.includes(hung)]).toEqual([2, false]);
    expect(after).toContain(before[1]);
    expect(service.output.stdout).toMatch(new RegExp(`"message":"a worker .*not answer.*"pid":${hung}`));
    // The bytes that it might have read are freed, and the quota is exact again.
    await expect.poll(() => blobFiles(service), { timeout: replaced }).toBe(3);
    expect((await sendAlone(service, put('e')))?.status).toBe(403);
    for (const key of ['b', 'c', 'd']) {
      expect((await sendAlone(service, { path: `/bucket/${key}` }))?.body).toEqual(Buffer.alloc(100_000, key));
    }
    expect(await service.stop()).toBe(0);
  });
});

it('a worker that is still starting does not delay the end of the service', async () => {
  const service = await start();
  for (const worker of await workersOf(service)) process.kill(worker, 'SIGKILL');
  await expect.poll(() => service.output.stdout, { timeout: promptly }).toContain('a worker died');
  expect(await Promise.race([service.stop(), sleep(promptly, 'late', { ref: false })])).toBe(0);
});

describe('a worker that does not hang', () => {
  it('is not replaced though it is busy for long, and gets connections again', async () => {
    const service = await start({ busyFor: 12_000 });
    const [busy] = (await workersOf(service)) as [number];
    process.kill(busy, 'SIGUSR2');
    await expect.poll(() => service.output.stdout).toContain('a worker does not answer');
    expect(await statusesOf(service, 10, { path: '/' })).toEqual(Array.from({ length: 10 }, () => 200));
    await expect.poll(() => service.output.stdout).toContain('a worker answers again');
    const names = new Set<unknown>();
    const clients = Array.from({ length: 20 }, () => new PooledClient(service, alice, 1));
    for (const client of clients) names.add((await client.send({ path: '/' })).headers['x-amz-id-2']);
    for (const client of clients) client.close();
    expect(names.size).toBe(3);
    expect(await workersOf(service)).toContain(busy);
    expect(service.output.stdout).not.toContain('a worker died');
    expect(await service.stop()).toBe(0);
  });

  it('is not replaced when the whole service was suspended', async () => {
    const service = await start();
    const workers = await workersOf(service);
    const all = [...workers, service.pid];
    for (const pid of all) process.kill(pid, 'SIGSTOP');
    await sleep(longSilence);
    // The primary first, which has been waiting for the others all that time.
    for (const pid of all.reverse()) process.kill(pid, 'SIGCONT');
    await sleep(2000);
    expect(await statusesOf(service, 10, { path: '/' })).toEqual(Array.from({ length: 10 }, () => 200));
    expect([...(await workersOf(service))].sort()).toEqual([...workers].sort());
    expect(service.output.stdout).not.toContain('a worker');
    expect(await readFile(`/proc/${workers[0]!}/stat`, 'utf8')).not.toContain(' T ');
    expect(await service.stop()).toBe(0);
  });
});
