import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { issueCertificate } from '../support/certificates.ts';
import { PooledClient } from '../support/pooled-client.ts';
import { RawConnection, requestBytes, type RawResponse } from '../support/raw-client.ts';
import { alice, startService, type Service } from '../support/server.ts';
import { signed, type Unsigned } from '../support/signer.ts';

const MiB = 1024 * 1024;
/** Far below the time after which a stop cuts what still runs, and the time for which idle connections are kept. */
const soon = 3000;

let data: string;
let service: Service;
let client: PooledClient;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'stillage-stopped-'));
  service = await startService({ data });
  client = new PooledClient(service);
  expect((await client.send({ method: 'PUT', path: '/bucket' })).status).toBe(200);
});
afterEach(async () => {
  client.close();
  if (service.process.exitCode === null) await service.kill();
  await rm(data, { recursive: true });
});

function bytesOf(request: Unsigned): Buffer {
  const { host } = new URL(service.url);
  return requestBytes(signed(host, request, { key: alice, payloadHash: 'UNSIGNED-PAYLOAD' }));
}

/** Sends a request in pieces, with pauses between them. */
async function sendSlowly(request: Unsigned, pieces: number, pause: number): Promise<RawResponse> {
  const connection = await RawConnection.open(service.url);
  const bytes = bytesOf(request);
  const size = Math.ceil(bytes.length / pieces);
  for (let start = 0; start < bytes.length; start += size) {
    connection.write(bytes.subarray(start, start + size));
    await sleep(pause);
  }
  return connection.response(request.method);
}

/** Reads a response in pieces, with pauses between them. */
async function readSlowly(request: Unsigned, pieces: number, pause: number): Promise<number> {
  const socket = connect(service.port, '127.0.0.1');
  socket.write(bytesOf(request));
  let size = 0;
  socket.on('data', (bytes) => (size += bytes.length)).on('error', () => undefined);
  const ended = new Promise((resolve) => socket.once('close', resolve));
  for (let piece = 0; piece < pieces; piece += 1) {
    socket.pause();
    await sleep(pause);
    socket.resume();
    await sleep(1);
  }
  await ended;
  return size;
}

async function usage(): Promise<{ objects: number; bytes: number }> {
  const { headers } = await client.send({ method: 'HEAD', path: '/bucket' });
  return { objects: Number(headers['x-rgw-object-count']), bytes: Number(headers['x-rgw-bytes-used']) };
}

async function restart(): Promise<void> {
  client.close();
  service = await startService({ data });
  client = new PooledClient(service);
}

describe('SIGTERM', () => {
  it('cuts no request that is running, and takes no new connection', async () => {
    const large = Buffer.alloc(16 * MiB, 'large ');
    expect((await client.send({ method: 'PUT', path: '/bucket/large', body: large })).status).toBe(200);

    const uploads = [1, 2, 3, 4].map((n) =>
      sendSlowly({ method: 'PUT', path: `/bucket/slow-${n}`, body: Buffer.alloc(100_000, `${n}`) }, 10, 150),
    );
    const downloads = [1, 2, 3, 4].map(() => readSlowly({ path: '/bucket/large' }, 10, 150));
    await sleep(300);
    const stopped = service.stop();
    await sleep(200);
    await expect(RawConnection.open(service.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });

    for (const response of await Promise.all(uploads)) {
      expect(response.status).toBe(200);
      expect(response.header('connection')).toBe('close');
    }
    for (const size of await Promise.all(downloads)) expect(size).toBeGreaterThan(large.length);
    const finished = Date.now();
    expect(await stopped).toBe(0);
    expect(Date.now() - finished).toBeLessThan(soon);

    await restart();
    expect(await usage()).toEqual({ objects: 5, bytes: large.length + 4 * 100_000 });
    for (const n of [1, 2, 3, 4]) {
      const { body } = await client.send({ path: `/bucket/slow-${n}` });
      expect(body.equals(Buffer.alloc(100_000, `${n}`))).toBe(true);
    }
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
    service = await startService({ data, args: ['--tls-cert', certificate, '--tls-key', key] });
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
    const upload = bytesOf({ method: 'PUT', path: '/bucket/key', body: 'content' });
    busy.write(upload.subarray(0, -1));
    await sleep(50);

    const stopped = service.stop();
    await sleep(1000);
    for (const idle of [used, fresh, half]) expect(idle.closed || idle.readableEnded).toBe(true);
    busy.write(upload.subarray(-1));
    expect(String(await once(busy, 'data'))).toContain('HTTP/1.1 200');
    const finished = Date.now();
    expect(await stopped).toBe(0);
    expect(Date.now() - finished).toBeLessThan(soon);
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
