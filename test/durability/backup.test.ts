import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textOf } from '../support/clients/expect-error.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { runProgram, type Run } from '../support/programs/program.ts';
import { startService, type Service } from '../support/programs/server.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { expectScrubClean } from '../support/storage/scrub-clean.ts';

const writers = 12;
const env = { STILLAGE_BACKUP_PASSPHRASE: 'correct horse battery staple' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-backup-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** When something happened, in milliseconds since the epoch, by the same clock as the moment of a backup. */
interface Life {
  readonly begun: number;
  acknowledged?: number;
  removing?: number;
  readonly bytes: Buffer;
}

/** The objects that writers have put, each under a key of its own, and removed. */
class Lives {
  readonly all = new Map<string, Life>();
  #count = 0;

  /** Puts and removes objects until the connection breaks, or this is over. */
  async write(client: PooledClient, isOver: () => boolean): Promise<void> {
    const own: string[] = [];
    while (!isOver()) {
      this.#count += 1;
      const key = `${this.#count}`;
      const size = [0, 100, 5000, 33_000, 300_000][this.#count % 5]!;
      const life: Life = { begun: Date.now(), bytes: Buffer.alloc(size, `${key} `) };
      this.all.set(key, life);
      const put = await send(client, 'PUT', key, life.bytes);
      if (put === undefined) return;
      expect(put).toBe(200);
      life.acknowledged = Date.now();
      own.push(key);
      if (this.#count % 3 !== 0) continue;
      const gone = own.splice(Math.floor(Math.random() * own.length), 1)[0]!;
      this.all.get(gone)!.removing = Date.now();
      const removed = await send(client, 'DELETE', gone);
      if (removed === undefined) return;
      expect(removed).toBe(204);
    }
  }

  /** Expects all objects of a moment, and none that came later. */
  async expectAsAt(at: number, client: PooledClient): Promise<number> {
    let whole = 0;
    for (const [key, { begun, acknowledged = Infinity, removing = Infinity, bytes }] of this.all) {
      const got = await client.send({ path: `/bucket/${key}` });
      if (acknowledged < at && removing > at) {
        expect(got.status, `${key}, acknowledged ${at - acknowledged} ms before`).toBe(200);
        expect(got.body.equals(bytes), key).toBe(true);
        whole += 1;
      }
      // The moment comes right after its time, unless the process is held up in between.
      if (begun > at + 2000) expect(got.status, key).toBe(404);
      if (got.status === 200) expect(got.body.equals(bytes), key).toBe(true);
    }
    return whole;
  }
}

/** Sends a request, and returns its status; undefined: the service was killed. */
async function send(client: PooledClient, method: string, key: string, body?: Buffer): Promise<number | undefined> {
  try {
    return (await client.send({ method, path: `/bucket/${key}`, ...(body && { body }) })).status;
  } catch (error) {
    if (/^(ECONNRESET|ECONNREFUSED|EPIPE|HPE_INVALID_EOF_STATE)$/.test((error as NodeJS.ErrnoException).code ?? ''))
      return undefined;
    throw error;
  }
}

async function newTarget(name: string): Promise<string> {
  const target = join(folder, name);
  await mkdir(target);
  return target;
}

function backUp(data: string, target: string): Promise<Run> {
  return runProgram(['backup', 'create', target, '--data', data, '--json'], { env });
}

interface Backup {
  readonly at: number;
  readonly added: number;
  readonly blobs: number;
}

async function backupOf(run: Promise<Run>): Promise<Backup> {
  const { code, stdout, stderr } = await run;
  expect([code, stdout === '' ? stderr : '']).toEqual([0, '']);
  return JSON.parse(stdout) as Backup;
}

async function restored(target: string, at: number, name: string): Promise<string> {
  const data = join(folder, name);
  const to = new Date(at + 999).toISOString();
  const { code, stderr } = await runProgram(['restore', target, '--to', to, '--data', data], { env });
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  return data;
}

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

async function packsIn(target: string): Promise<number> {
  const names = await readdir(join(target, 'packs'), { recursive: true }).catch(() => []);
  return names.filter((name) => name.length > 60).length;
}

interface Released {
  readonly freed: { readonly blobs: number };
  readonly held: { readonly blobs: number; readonly things: number };
}

/** Returns the number of blobs in files. */
async function filesIn(blobs: string): Promise<number> {
  return (await readdir(blobs, { recursive: true })).filter((name) => name.length === 33).length;
}

describe('a backup under load', () => {
  it('has every object that was acknowledged before its moment, whole, and none that came later', async () => {
    const [data, target] = [join(folder, 'load'), await newTarget('load-backups')];
    const lives = new Lives();
    const backups: Backup[] = [];
    await whileServed(data, async (client, service) => {
      expect((await client.send({ method: 'PUT', path: '/bucket' })).status).toBe(200);
      let isOver = false;
      const work = Promise.all(Array.from({ length: writers }, () => lives.write(client, () => isOver)));
      await untilFound(() => lives.all.size > 300);
      for (let round = 0; round < 3; round += 1) {
        const before = lives.all.size;
        backups.push(await backupOf(backUp(data, target)));
        await untilFound(() => lives.all.size > before + 50);
      }
      isOver = true;
      await work;
      expect(service.output.stdout).not.toContain('"level":"error"');
    });
    for (const [round, { at }] of backups.entries()) {
      const copy = await restored(target, at, `load-restored-${round}`);
      const whole = await whileServed(copy, (client) => lives.expectAsAt(at, client));
      expect(whole).toBeGreaterThan(100);
      await expectScrubClean(copy);
    }
    expect((await runProgram(['backup', 'verify', target], { env })).code).toBe(0);
  });

  it('is resumed after a kill of its process, and goes on after one of the service', async () => {
    const [data, target] = [join(folder, 'killed'), await newTarget('killed-backups')];
    const lives = new Lives();
    const service = await startService({ data });
    const client = new PooledClient(service);
    expect((await client.send({ method: 'PUT', path: '/bucket' })).status).toBe(200);
    for (let number = 0; number < 8; number += 1) {
      const life: Life = { begun: 0, acknowledged: 0, bytes: Buffer.alloc(9_000_000 + number, `large ${number}`) };
      lives.all.set(`large-${number}`, life);
      expect(await send(client, 'PUT', `large-${number}`, life.bytes)).toBe(200);
    }
    let isOver = false;
    const work = Promise.all(Array.from({ length: 4 }, () => lives.write(client, () => isOver)));

    const first = spawn(process.execPath, ['bin/stillage.cjs', 'backup', 'create', target, '--data', data], {
      cwd: join(import.meta.dirname, '../..'),
      env: { ...process.env, ...env },
      stdio: 'ignore',
    });
    const ended = once(first, 'exit');
    await untilFound(async () => (await packsIn(target)) > 0);
    first.kill('SIGKILL');
    await ended;
    const left = await packsIn(target);
    expect((await runProgram(['backup', 'list', target], { env })).stdout).toBe('no backups\n');

    const second = backUp(data, target);
    await untilFound(async () => (await packsIn(target)) > left);
    await service.kill();
    isOver = true;
    await work;
    const { at, added } = await backupOf(second);
    // What the first one had written was not written again.
    const sizes = [...lives.all.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
    expect(added).toBeLessThan(sizes - 8_000_000);
    client.close();

    const copy = await restored(target, at, 'killed-restored');
    await whileServed(copy, (restoredClient) => lives.expectAsAt(at, restoredClient));
    await expectScrubClean(copy);
    expect((await runProgram(['backup', 'verify', target], { env })).code).toBe(0);
  });

  it('has what is deleted while it runs, which is freed once it has ended', async () => {
    const [data, target] = [join(folder, 'deleted'), await newTarget('deleted-backups')];
    const bodies = Array.from({ length: 8 }, (_, number) => Buffer.alloc(9_000_000 + number, `large ${number}`));
    const at = await whileServed(data, async (client) => {
      expect((await client.send({ method: 'PUT', path: '/bucket' })).status).toBe(200);
      for (const [number, body] of bodies.entries()) expect(await send(client, 'PUT', `${number}`, body)).toBe(200);
      expect(await send(client, 'PUT', 'small', Buffer.from('small'))).toBe(200);
      const upload = await client.send({ method: 'POST', path: '/bucket/open', query: 'uploads' });
      const query = `uploadId=${textOf(upload.text, 'UploadId')}`;
      await client.send({ method: 'PUT', path: '/bucket/open', query: `partNumber=1&${query}`, body: bodies[0]! });

      const program = spawn(
        process.execPath,
        ['bin/stillage.cjs', 'backup', 'create', target, '--data', data, '--json'],
        {
          cwd: join(import.meta.dirname, '../..'),
          env: { ...process.env, ...env },
          stdio: ['ignore', 'pipe', 'ignore'],
        },
      );
      let stdout = '';
      program.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      const ended = once(program, 'exit');
      await untilFound(async () => (await packsIn(target)) > 0);
      program.kill('SIGSTOP');
      for (const number of bodies.keys()) expect(await send(client, 'DELETE', `${number}`)).toBe(204);
      expect(await send(client, 'DELETE', 'small')).toBe(204);
      expect((await client.send({ method: 'DELETE', path: '/bucket/open', query })).status).toBe(204);
      expect(await send(client, 'PUT', 'later', bodies[0])).toBe(200);
      expect(await send(client, 'DELETE', 'later')).toBe(204);
      const release = JSON.parse((await runProgram(['release', '--data', data, '--json'])).stdout) as Released;
      // What came after its moment is not held.
      expect(release).toMatchObject({ freed: { blobs: 1 }, held: { blobs: 9 } });
      program.kill('SIGCONT');
      expect(await ended).toEqual([0, null]);

      const after = JSON.parse((await runProgram(['release', '--data', data, '--json'])).stdout) as Released;
      expect(after).toMatchObject({ held: { things: 0 } });
      await untilFound(async () => (await filesIn(join(data, 'blobs'))) === 0);
      return (JSON.parse(stdout) as Backup).at;
    });
    const copy = await restored(target, at, 'deleted-restored');
    await whileServed(copy, async (client) => {
      for (const [number, body] of bodies.entries()) {
        expect((await client.send({ path: `/bucket/${number}` })).body.equals(body)).toBe(true);
      }
      expect((await client.send({ path: '/bucket/small' })).text).toBe('small');
      const uploads = (await client.send({ path: '/bucket', query: 'uploads' })).text;
      const parts = await client.send({ path: '/bucket/open', query: `uploadId=${textOf(uploads, 'UploadId')}` });
      expect(textOf(parts.text, 'Size')).toBe('9000000');
    });
    await expectScrubClean(copy);
    expect((await runProgram(['scrub', '--content', '--data', copy])).code).toBe(0);
  });
});
