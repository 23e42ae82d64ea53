import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { runProgram, type Run } from '../support/programs/program.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { expectScrubClean } from '../support/storage/scrub-clean.ts';
import { startService, type Service } from '../support/programs/server.ts';
import { patience } from '../support/runs/patience.ts';

const kept = 50;
const deleted = 950;
const bodyOf = (at: number): Buffer => Buffer.alloc(10_000, `body ${at} `);

let folder: string;
let full: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-compact-'));
  full = join(folder, 'full');
  await whileServed(full, async (client) => {
    expect((await client.send({ method: 'PUT', path: '/bucket' })).status).toBe(200);
    const all = Array.from({ length: kept + deleted }, (_, at) => at);
    const puts = await Promise.all(
      all.map((at) => client.send({ method: 'PUT', path: `/bucket/${at}`, body: bodyOf(at) })),
    );
    const large = await client.send({ method: 'PUT', path: '/bucket/large', body: Buffer.alloc(300_000, 'large') });
    const removed = await Promise.all(
      all.slice(kept).map((at) => client.send({ method: 'DELETE', path: `/bucket/${at}` })),
    );
    expect(new Set([...puts, large].map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(removed.map(({ status }) => status))).toEqual(new Set([204]));
    expect((await runWarm(['release', '--data', full])).code).toBe(0);
  });
});
afterAll(() => rm(folder, { recursive: true }));

async function whileServed<T>(data: string, work: (client: PooledClient, service: Service) => Promise<T>): Promise<T> {
  const service = await startService({ data });
  const client = new PooledClient(service);
  try {
    return await work(client, service);
  } finally {
    client.close();
    await service.stop();
  }
}

async function copy(): Promise<string> {
  const data = await mkdtemp(join(folder, 'copy-'));
  await cp(full, data, { recursive: true });
  return data;
}

const compact = (data: string, ...args: string[]): Promise<Run> => runWarm(['compact', '--data', data, ...args]);
const tableOf = (data: string): string => join(data, 'table', 'data.mdb');
const sizeOf = async (data: string): Promise<number> => (await stat(tableOf(data))).size;
const drafts = async (data: string): Promise<string[]> =>
  (await readdir(join(data, 'table'))).filter((name) => name !== 'data.mdb' && name !== 'lock.mdb');

async function damageASmallBlob(data: string): Promise<void> {
  const bytes = await readFile(tableOf(data));
  // Pages out of use have it as well.
  for (let at = bytes.indexOf('body 7 '); at !== -1; at = bytes.indexOf('body 7 ', at + 1)) bytes[at] = 0x42;
  await writeFile(tableOf(data), bytes);
}

/** Expects every object that was not deleted, and that new ones can be added. */
async function expectKept(data: string): Promise<void> {
  await whileServed(data, async (client) => {
    for (let at = 0; at < kept; at += 1) {
      expect((await client.send({ path: `/bucket/${at}` })).body.equals(bodyOf(at))).toBe(true);
    }
    expect((await client.send({ path: '/bucket/large' })).body).toHaveLength(300_000);
    expect((await client.send({ path: `/bucket/${kept}` })).status).toBe(404);
    expect((await client.send({ method: 'PUT', path: '/bucket/new', body: 'new' })).status).toBe(200);
    const { headers } = await client.send({ method: 'HEAD', path: '/bucket' });
    expect(headers['x-rgw-object-count']).toBe(String(kept + 2));
  });
  await expectScrubClean(data);
}

describe('stillage compact', () => {
  it('gives the space of deleted objects back to the disk, and keeps everything else', async () => {
    const data = await copy();
    const before = await sizeOf(data);
    const { code, stdout, stderr } = await compact(data);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^table: \S+ MiB before, \S+ [KM]iB now\n$/);
    expect(before).toBeGreaterThan(8 * 1024 * 1024);
    expect(await sizeOf(data)).toBeLessThan(before / 4);
    expect((await stat(tableOf(data))).mode & 0o777).toBe(0o600);
    expect(await drafts(data)).toEqual([]);
    await expectKept(data);
  });

  it('prints JSON', async () => {
    const data = await copy();
    const before = await sizeOf(data);
    const told = JSON.parse((await compact(data, '--json')).stdout) as unknown;
    expect(told).toEqual({ sizeBefore: before, sizeAfter: await sizeOf(data) });
  });

  it('refuses a directory that is served, and one that is none', async () => {
    const data = await copy();
    await whileServed(data, async () => {
      const { code, stderr } = await compact(data);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^stillage: --data: a service runs on [^\n]+\n$/)]);
    });
    const { code, stderr } = await compact(join(folder, 'missing'));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^stillage: --data: [^\n]+ is not a data directory/)]);
  });

  it('lets no service start meanwhile, and may be killed at any time', async () => {
    const data = await copy();
    const before = await sizeOf(data);
    const program = spawn(process.execPath, ['bin/stillage.cjs', 'compact', '--data', data], {
      cwd: join(import.meta.dirname, '../..'),
      stdio: 'ignore',
    });
    const ended = once(program, 'exit');
    await vi.waitUntil(async () => (await drafts(data)).some((name) => name.endsWith('.draft')), {
      timeout: patience,
      interval: 1,
    });
    program.kill('SIGSTOP');
    expect(await sizeOf(data)).toBe(before);
    const start = await runProgram(['start', '--port', '0', '--data', data]);
    expect([start.code, start.stderr]).toEqual([1, expect.stringMatching(/^stillage: --data: process \d+ serves /)]);
    program.kill('SIGKILL');
    await ended;
    await expectKept(data);
    expect((await compact(data)).code).toBe(0);
    expect(await drafts(data)).toEqual([]);
    expect(await sizeOf(data)).toBeLessThan(before / 4);
  });

  it('leaves a damaged table as it is, and says what finds the damage', async () => {
    const data = await copy();
    await mkdir(join(data, 'table', 'left.draft'));
    await damageASmallBlob(data);
    const before = await sizeOf(data);
    const { code, stderr } = await compact(data);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^stillage: --data: the table in \S+ is damaged: stillage doctor --data \S+ says where/);
    expect(await sizeOf(data)).toBe(before);
    expect(await drafts(data)).toEqual([]);
  });
});
