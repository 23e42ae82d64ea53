import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HeldRequest } from '../support/clients/held-request.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { requestBytes } from '../support/clients/raw-client.ts';
import { expectScrubClean } from '../support/storage/scrub-clean.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { signed } from '../support/clients/signer.ts';
import { workersOf } from '../support/programs/worker-processes.ts';
import { eventually } from '../support/runs/eventually.ts';

const MiB = 1024 * 1024;

let data: string;
let service: Service;
let client: PooledClient;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'stillage-release-'));
});
afterEach(async () => {
  client.close();
  await service.stop();
  await rm(data, { recursive: true });
});

async function start(...args: string[]): Promise<void> {
  service = await startService({ data, args: ['--limit', 'minimumPartBytes=1', ...args] });
  client = new PooledClient(service);
  await client.send({ method: 'PUT', path: '/bucket' });
}

/** The bytes of the files of blobs. */
async function bytesOnDisk(): Promise<number> {
  const names = await readdir(join(data, 'blobs'), { recursive: true });
  const sizes = names.map(async (name) => {
    const found = await stat(join(data, 'blobs', name)).catch(() => undefined);
    return found?.isFile() ? found.size : 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

const nothingLeft = (): Promise<void> => eventually(async () => expect(await bytesOnDisk()).toBe(0));

async function put(key: string, body: Buffer): Promise<void> {
  expect((await client.send({ method: 'PUT', path: `/bucket/${key}`, body })).status).toBe(200);
}

async function remove(key: string): Promise<void> {
  expect((await client.send({ method: 'DELETE', path: `/bucket/${key}` })).status).toBe(204);
}

/** Returns bytes that show their position. */
function pattern(size: number, seed: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at + 8 <= size; at += 8) {
    bytes.writeUInt32LE(at, at);
    bytes.writeUInt32LE(seed, at + 4);
  }
  return bytes;
}

/** Puts an object of three blobs, of more bytes than the buffers of two sockets hold. */
async function putParts(key: string): Promise<Buffer> {
  const parts = [1, 2, 3].map((seed) => pattern(12 * MiB, seed));
  const path = `/bucket/${key}`;
  const { text } = await client.send({ method: 'POST', path, query: 'uploads' });
  const id = /<UploadId>(.*)<\/UploadId>/.exec(text)![1]!;
  const listed: string[] = [];
  for (const [at, body] of parts.entries()) {
    const query = `partNumber=${at + 1}&uploadId=${id}`;
    const { headers } = await client.send({ method: 'PUT', path, query, body });
    listed.push(`<Part><PartNumber>${at + 1}</PartNumber><ETag>${String(headers.etag)}</ETag></Part>`);
  }
  const body = `<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`;
  expect((await client.send({ method: 'POST', path, query: `uploadId=${id}`, body })).status).toBe(200);
  return Buffer.concat(parts);
}

/** A GET whose client reads nothing after the head of the response until it is told to. */
class PausedGet {
  readonly #socket: Socket;
  readonly #chunks: Buffer[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async begin(key: string): Promise<PausedGet> {
    const { hostname, port, host } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const get = new PausedGet(socket);
    socket.on('error', () => undefined);
    socket.write(
      requestBytes(signed(host, { path: `/bucket/${key}`, headers: { connection: 'close' } }, { key: alice })),
    );
    await new Promise<void>((resolve) => {
      socket.once('data', (chunk: Buffer) => {
        get.#chunks.push(chunk);
        socket.pause();
        resolve();
      });
    });
    return get;
  }

  /** Takes the rest. @returns the body */
  async rest(): Promise<Buffer> {
    const ended = new Promise((resolve) => this.#socket.once('close', resolve));
    this.#socket.on('data', (chunk: Buffer) => this.#chunks.push(chunk)).resume();
    await ended;
    const all = Buffer.concat(this.#chunks);
    return all.subarray(all.indexOf('\r\n\r\n') + 4);
  }

  abandon(): void {
    this.#socket.destroy();
  }
}

interface Report {
  readonly freed: { readonly bytes: number; readonly blobs: number };
  readonly held: { readonly bytes: number; readonly blobs: number };
}

async function release(): Promise<Report> {
  const { code, stdout, stderr } = await runWarm(['release', '--data', data, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Report;
}

describe('the bytes of deleted objects', () => {
  it('are freed as fast as a loop of PUT and DELETE makes them, without an hour to wait', async () => {
    await start();
    let most = 0;
    for (let turn = 0; turn < 200; turn += 1) {
      await put(`key-${turn % 3}`, pattern(MiB, turn));
      if (turn % 2 === 0) await remove(`key-${turn % 3}`);
      if (turn % 5 === 0) most = Math.max(most, await bytesOnDisk());
    }
    for (const key of ['key-0', 'key-1', 'key-2']) await remove(key);
    expect(most).toBeLessThan(40 * MiB);
    await nothingLeft();
    await expectScrubClean(data);
  });

  it('give their pages of the table back, if they are small', async () => {
    await start();
    const turns = 40;
    for (let turn = 0; turn < turns; turn += 1) {
      const keys = Array.from({ length: 50 }, (_, at) => `small-${at}`);
      await Promise.all(keys.map((key) => put(key, pattern(30_000, turn))));
    }
    // Everything that was written, and every copy-on-write of a page, would be several times as much.
    expect((await stat(join(data, 'table', 'data.mdb'))).size).toBeLessThan((turns * 50 * 30_000) / 2);
  });

  it('stay for the request that reads them, to its last byte, and for no other', async () => {
    await start();
    const whole = await putParts('slow');
    const slow = await PausedGet.begin('slow');
    await remove('slow');
    for (let turn = 0; turn < 10; turn += 1) {
      await put('other', pattern(MiB, turn));
      await remove('other');
    }
    await eventually(async () => expect(await bytesOnDisk()).toBeLessThan(37 * MiB));
    expect(await release()).toMatchObject({ held: { bytes: 36 * MiB, blobs: 3 } });
    expect(Buffer.compare(await slow.rest(), whole)).toBe(0);
    await nothingLeft();
    expect(await release()).toMatchObject({ freed: { blobs: 0 }, held: { blobs: 0 } });
    expect(service.output.stdout).not.toContain('"level":"error"');
  });

  it('do not wait for a client that is slow to send its body, nor for one that gave up', async () => {
    await start();
    await putParts('given-up');
    const { host } = new URL(service.url);
    const upload = { method: 'PUT', path: '/bucket/upload', body: 'slow' };
    const held = await HeldRequest.begin({ url: service.url, host }, upload, { key: alice });
    const tags = '<Tagging><TagSet></TagSet></Tagging>';
    const document = { method: 'PUT', path: '/bucket/given-up', query: 'tagging', body: tags };
    const heldDocument = await HeldRequest.begin({ url: service.url, host }, document, { key: alice });
    const slow = await PausedGet.begin('given-up');
    await put('other', pattern(MiB, 1));
    await remove('other');
    await eventually(async () => expect(await bytesOnDisk()).toBeLessThan(37 * MiB));
    await remove('given-up');
    slow.abandon();
    expect((await heldDocument.finish()).status).toBe(404);
    await nothingLeft();
    expect((await held.finish()).status).toBe(200);
  });

  it('stay for --release-grace, unless an operator says otherwise, with or without a service', async () => {
    await start('--release-grace', '1h');
    await put('key', pattern(MiB, 1));
    await remove('key');
    // HEAD of a bucket follows the feed first.
    await client.send({ method: 'HEAD', path: '/bucket' });
    expect(await bytesOnDisk()).toBeGreaterThan(MiB);
    expect(await release()).toEqual({
      freed: { bytes: MiB, blobs: 1, things: 1 },
      held: { bytes: 0, blobs: 0, things: 0 },
    });
    expect(await bytesOnDisk()).toBe(0);

    await put('key', pattern(MiB, 2));
    await remove('key');
    await service.stop();
    expect(await bytesOnDisk()).toBeGreaterThan(MiB);
    const { stdout } = await runWarm(['release', '--data', data]);
    expect(stdout).toBe('freed  1 MiB in 1 blob\nheld   nothing\n');
    expect(await bytesOnDisk()).toBe(0);
  });

  it('are freed at the start, if a service was killed before it could', async () => {
    await start('--release-grace', '1s');
    await put('key', pattern(MiB, 1));
    await remove('key');
    await client.send({ method: 'HEAD', path: '/bucket' });
    await service.kill();
    expect(await bytesOnDisk()).toBeGreaterThan(MiB);
    client.close();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await start();
    await nothingLeft();
  });
});

describe('the bytes of deleted objects, with workers', () => {
  it('stay for a reader on any of them, and no longer', async () => {
    await start('--workers', '2');
    const whole = await putParts('slow');
    // The first two are the worker's, the third is the primary's, which also has that of the client.
    const readers = [await PausedGet.begin('slow'), await PausedGet.begin('slow'), await PausedGet.begin('slow')];
    await remove('slow');
    expect(await release()).toMatchObject({ held: { bytes: 36 * MiB, blobs: 3 } });
    for (const slow of readers) expect(Buffer.compare(await slow.rest(), whole)).toBe(0);
    await nothingLeft();
  });

  it('are freed when the worker dies that read them', async () => {
    await start('--workers', '2');
    await putParts('slow');
    // At the worker, as the client's connection is at the primary.
    await PausedGet.begin('slow');
    await remove('slow');
    expect(await release()).toMatchObject({ held: { blobs: 3 } });
    for (const pid of await workersOf(service)) process.kill(pid, 'SIGKILL');
    await nothingLeft();
  });
});
