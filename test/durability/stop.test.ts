import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { issueCertificate } from '../support/clients/certificates.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { RawConnection, requestBytes, type RawResponse } from '../support/clients/raw-client.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { workersOf } from '../support/programs/worker-processes.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';

const MiB = 1024 * 1024;
/** For how long docs/configuration.md says that requests in progress may go on. */
const grace = 30_000;
/** Far below the time after which a stop aborts requests in progress, and the keep-alive time of idle connections. */
const soon = 10_000;
const pieces = 10;
const pause = 100;

let data: string;
let service: Service;
let client: PooledClient;
/** How many processes serve. */
let processes: string;
afterEach(async () => {
  client.close();
  if (service.process.exitCode === null) await service.kill();
  await rm(data, { recursive: true });
});

function bytesOf(request: Unsigned): Buffer {
  const { host } = new URL(service.url);
  return requestBytes(signed(host, request, { key: alice, payloadHash: 'UNSIGNED-PAYLOAD' }));
}

const waiting = { expect: '100-continue' };

/** Begins an upload; resolves when the service reads it. The rest goes in pieces, with pauses between them. */
async function beginUpload(path: string, body: Buffer): Promise<{ response: Promise<RawResponse> }> {
  const connection = await RawConnection.open(service.url);
  const bytes = bytesOf({ method: 'PUT', path, headers: waiting, body });
  connection.write(bytes.subarray(0, -body.length));
  expect(await connection.interim()).toBe(100);
  const finish = async (): Promise<RawResponse> => {
    const size = Math.ceil(body.length / pieces);
    for (let start = 0; start < body.length; start += size) {
      await sleep(pause);
      connection.write(body.subarray(start, start + size));
    }
    return connection.response('PUT');
  };
  return { response: finish() };
}

/** Begins a download; resolves when the service answers. The rest is read in pieces, with pauses between them. */
async function beginDownload(path: string): Promise<{ size: Promise<number> }> {
  const socket = connect(service.port, '127.0.0.1');
  socket.write(bytesOf({ path }));
  let size = 0;
  socket.on('data', (bytes: Buffer) => (size += bytes.length)).on('error', () => undefined);
  const ended = once(socket, 'close');
  await once(socket, 'data');
  const finish = async (): Promise<number> => {
    for (let piece = 0; piece < pieces; piece += 1) {
      socket.pause();
      await sleep(pause);
      socket.resume();
      await sleep(1);
    }
    await ended;
    return size;
  };
  return { size: finish() };
}

async function usage(): Promise<{ objects: number; bytes: number }> {
  const { headers } = await client.send({ method: 'HEAD', path: '/bucket' });
  return { objects: Number(headers['x-rgw-object-count']), bytes: Number(headers['x-rgw-bytes-used']) };
}

function start(...args: readonly string[]): Promise<Service> {
  return startService({ data, args: ['--workers', processes, ...args] });
}

async function restart(): Promise<void> {
  client.close();
  service = await start();
  client = new PooledClient(service);
}

describe.each(['1', '2'])('SIGTERM, to a service of %s processes,', (count) => {
  beforeEach(async () => {
    processes = count;
    data = await mkdtemp(join(tmpdir(), 'stillage-stopped-'));
    service = await start();
    client = new PooledClient(service);
    expect((await client.send({ method: 'PUT', path: '/bucket' })).status).toBe(200);
  });

  it('cuts no request that is running, and takes no new connection', async () => {
    const large = Buffer.alloc(16 * MiB, 'large ');
    expect((await client.send({ method: 'PUT', path: '/bucket/large', body: large })).status).toBe(200);

    const numbers = [1, 2, 3, 4];
    const contentOf = (n: number): Buffer => Buffer.alloc(100_000, `${n}`);
    const uploads = await Promise.all(numbers.map((n) => beginUpload(`/bucket/slow-${n}`, contentOf(n))));
    const downloads = await Promise.all(numbers.map(() => beginDownload('/bucket/large')));
    const stopped = service.stop();
    const refused = () =>
      RawConnection.open(service.url).then(
        () => 'taken',
        (error: NodeJS.ErrnoException) => error.code,
      );
    await expect.poll(refused, { timeout: soon }).toBe('ECONNREFUSED');

    for (const { response } of uploads) {
      expect((await response).status).toBe(200);
      expect((await response).header('connection')).toBe('close');
    }
    for (const { size } of downloads) expect(await size).toBeGreaterThan(large.length);
    const finished = Date.now();
    expect(await stopped).toBe(0);
    expect(Date.now() - finished).toBeLessThan(soon);

    await restart();
    expect(await usage()).toEqual({ objects: 5, bytes: large.length + 4 * 100_000 });
    for (const n of numbers) {
      const { body } = await client.send({ path: `/bucket/slow-${n}` });
      expect(body.equals(contentOf(n))).toBe(true);
    }
    expect(await service.stop()).toBe(0);
  });

  it('or Ctrl-C ends within the documented time although uploads and downloads stall', async () => {
    const large = Buffer.alloc(32 * MiB, 'large ');
    expect((await client.send({ method: 'PUT', path: '/bucket/large', body: large })).status).toBe(200);
    const body = Buffer.alloc(100_000);
    const stalled = [];
    for (const n of [1, 2, 3]) {
      const upload = await RawConnection.open(service.url);
      upload.write(
        bytesOf({ method: 'PUT', path: `/bucket/stalled-${n}`, headers: waiting, body }).subarray(0, -body.length),
      );
      expect(await upload.interim()).toBe(100);
      upload.write(body.subarray(0, 1000));
      stalled.push(upload);
    }
    const reader = connect(service.port, '127.0.0.1').on('error', () => undefined);
    reader.write(bytesOf({ path: '/bucket/large' }));
    await once(reader, 'readable');

    const started = Date.now();
    const exited = once(service.process, 'close');
    // A terminal sends the signal to every process.
    for (const pid of [...(await workersOf(service)), service.pid]) process.kill(pid, 'SIGINT');
    expect(await exited).toEqual([0, null]);
    expect(Date.now() - started).toBeLessThan(grace + soon);
    for (const upload of stalled) expect(await upload.closedWithin(soon)).toBe(true);
    reader.destroy();
    await restart();
    expect(await usage()).toEqual({ objects: 1, bytes: large.length });
    expect(await service.stop()).toBe(0);
  });

  it('is not held up by connections without a request', async () => {
    const used = await RawConnection.open(service.url);
    used.write(bytesOf({ path: '/bucket/absent' }));
    expect((await used.response()).status).toBe(404);
    const fresh = await RawConnection.open(service.url);
    await sleep(50);

    const started = Date.now();
    expect(await service.stop()).toBe(0);
    expect(Date.now() - started).toBeLessThan(soon);
    expect(await used.closedWithin(soon)).toBe(true);
    expect(await fresh.closedWithin(soon)).toBe(true);
  });

  it('is not held up by them over TLS either, nor by half a handshake', async () => {
    const { certificate, key, authority } = await issueCertificate(data, ['127.0.0.1']);
    expect(await service.stop()).toBe(0);
    service = await start('--tls-cert', certificate, '--tls-key', key);
    const ca = await readFile(authority);
    const open = async (): Promise<TLSSocket> => {
      const socket = connectTls({ host: '127.0.0.1', port: service.port, ca });
      await once(socket, 'secureConnect');
      return socket.on('error', () => undefined);
    };
    const [used, busy, fresh] = [await open(), await open(), await open()];
    const half = connect(service.port, '127.0.0.1');
    await once(half, 'connect');
    used.write('HEAD /_stillage/health HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(String(await once(used, 'data'))).toContain('HTTP/1.1 200');
    const upload = bytesOf({ method: 'PUT', path: '/bucket/key', headers: waiting, body: 'content' });
    busy.write(upload.subarray(0, -1));
    expect(String(await once(busy, 'data'))).toContain('HTTP/1.1 100');

    const stopped = service.stop();
    for (const idle of [used, fresh, half]) {
      idle.resume();
      await expect.poll(() => idle.closed || idle.readableEnded, { timeout: soon }).toBe(true);
    }
    busy.write(upload.subarray(-1));
    expect(String(await once(busy, 'data'))).toContain('HTTP/1.1 200');
    const finished = Date.now();
    expect(await stopped).toBe(0);
    expect(Date.now() - finished).toBeLessThan(soon);
  });

  it('is not held up by clients that keep connections open which have ended', async () => {
    const sockets: Socket[] = [];
    for (let at = 0; at < 3; at += 1) {
      const socket = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true });
      sockets.push(socket.on('error', () => undefined));
      socket.write(bytesOf({ method: 'HEAD', path: '/bucket' }));
      expect(String(await once(socket, 'data'))).toContain('HTTP/1.1 200');
      socket.write('nothing\r\n\r\n');
      expect(String(await once(socket, 'data'))).toContain('HTTP/1.1 400');
    }
    const started = Date.now();
    expect(await service.stop()).toBe(0);
    expect(Date.now() - started).toBeLessThan(2 * soon);
    for (const socket of sockets) socket.destroy();
  });

  it('sends their responses to clients that have closed their side', async () => {
    const body = Buffer.alloc(4 * MiB, 'large ');
    expect((await client.send({ method: 'PUT', path: '/bucket/large', body })).status).toBe(200);
    const sockets = Array.from({ length: 3 }, () =>
      connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true }),
    );
    const sizes = sockets.map(async (socket) => {
      let size = 0;
      socket.end(bytesOf({ path: '/bucket/large' }));
      await once(socket, 'readable');
      socket.on('data', (bytes: Buffer) => (size += bytes.length)).pause();
      return async () => {
        socket.resume();
        await once(socket, 'end');
        return size;
      };
    });
    const rest = await Promise.all(sizes);
    const stopped = service.stop();
    for (const size of rest) expect(await size()).toBeGreaterThan(body.length);
    expect(await stopped).toBe(0);
  });

  it('loses no change that is still to be counted', async () => {
    const put = (n: number) => client.send({ method: 'PUT', path: `/bucket/${n}`, body: 'x'.repeat(n) });
    const numbers = Array.from({ length: 200 }, (_, n) => n);
    for (const { status } of await Promise.all(numbers.map(put))) expect(status).toBe(200);
    expect(await service.stop()).toBe(0);
    expect(service.output.stdout).not.toContain('"level":"error"');

    await restart();
    expect(await usage()).toEqual({ objects: 200, bytes: (199 * 200) / 2 });
    expect(await service.stop()).toBe(0);
  });
});
