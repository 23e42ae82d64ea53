import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { exchange, requestBytes, type RawResponse } from '../support/clients/raw-client.ts';
import { alice, bob, startService, type Service } from '../support/programs/server.ts';
import { anonymous, signed, type Key, type Unsigned } from '../support/clients/signer.ts';
import { eventually } from '../support/runs/eventually.ts';

const MiB = 1024 * 1024;

async function start(...args: readonly string[]): Promise<{ service: Service; client: PooledClient }> {
  const service = await startService({ args });
  const client = new PooledClient(service, alice, 8);
  onTestFinished(async () => {
    client.close();
    await service.kill();
  });
  expect((await client.send({ method: 'PUT', path: '/bucket' })).status).toBe(200);
  return { service, client };
}

function send({ url }: Service, request: Unsigned): Promise<RawResponse> {
  return exchange(url, signed(new URL(url).host, request, { key: alice }));
}

/** Sends a request, and takes nothing of its response but what the system takes by itself. */
async function unread({ port, url }: Service, request: Unsigned, key: Key | null = alice): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const { host } = new URL(url);
  socket.write(requestBytes(key === null ? anonymous(host, request) : signed(host, request, { key })));
  await once(socket, 'readable');
  return socket;
}

describe('documents that their clients do not read', () => {
  it('count as downloads by their size, until they are taken', async () => {
    const { service, client } = await start('--limit', 'concurrentDownloads=16');
    // In XML, each character takes five: a page has 4.5 MB.
    const keys = Array.from({ length: 1000 }, (_, at) => `${at}${'%26'.repeat(900)}`);
    await Promise.all(keys.map((key) => client.send({ method: 'PUT', path: `/bucket/${key}` })));
    const listing = { path: '/bucket', query: 'list-type=2' };
    const whole = await send(service, listing);
    expect(whole.status).toBe(200);
    expect(whole.body.length).toBeGreaterThan(4 * MiB);
    expect(whole.header('content-type')).toBe('application/xml');

    // Three quarters of sixteen are enough for two of five.
    const sockets = [await unread(service, listing), await unread(service, listing)];
    expect((await send(service, listing)).status).toBe(503);
    expect((await send(service, { path: '/bucket', query: 'list-type=2&max-keys=5' })).status).toBe(200);
    // What has changed something cannot be refused any more.
    const names = keys.slice(0, 100).map((_, at) => `<Object><Key>absent-${at}${'&amp;'.repeat(900)}</Key></Object>`);
    const removal = { method: 'POST', path: '/bucket', query: 'delete', body: `<Delete>${names.join('')}</Delete>` };
    expect((await client.send(removal)).status).toBe(200);
    sockets.pop()!.destroy();
    await eventually(async () => expect((await send(service, listing)).status).toBe(200));
    sockets.pop()!.resume();
    await eventually(async () =>
      expect((await Promise.all([1, 2].map(() => send(service, listing)))).map((one) => one.status)).toEqual([
        200, 200,
      ]),
    );
  });
});

describe('downloads that their clients take too slowly', () => {
  it('make room for others once places are short, and not before', async () => {
    const { service } = await start('--limit', 'concurrentDownloads=4,readerGrace=1500,readerRate=1048576');
    const body = Buffer.alloc(32 * MiB, 'content');
    const put = { method: 'PUT', path: '/bucket/large', headers: { 'x-amz-acl': 'public-read' }, body };
    expect((await send(service, put)).status).toBe(200);
    const download = { path: '/bucket/large' };
    const brokenOff = (): number => {
      const ends = service.output.stdout
        .split('\n')
        .filter((line) => line.includes('"GetObject"') && line.includes('"status":200'));
      return ends.filter((line) => (JSON.parse(line) as { bytesOut: number }).bytesOut < body.length).length;
    };

    // Strangers get three of four places.
    for (let count = 0; count < 3; count += 1) await trickle(service, download);
    expect((await exchange(service.url, anonymous(new URL(service.url).host, download))).status).toBe(503);
    await sleep(2500);
    const first = await unread(service, download);
    expect(brokenOff()).toBe(0);
    expect((await send(service, download)).body.equals(body)).toBe(true);
    await eventually(() => expect(brokenOff()).toBe(1));

    // Whoever was late is so at once when it begins again.
    await trickle(service, download);
    await sleep(1500);
    for (let made = 2; made <= 4; made += 1) {
      await unread(service, download);
      await eventually(() => expect(brokenOff()).toBe(made));
    }
    first.destroy();
  });

  it('leave the last quarter to others, whoever they are, and all places to a third once they are late', async () => {
    const { service } = await start('--limit', 'concurrentDownloads=16,readerGrace=8000,readerRate=16384');
    const body = Buffer.alloc(32 * MiB, 'content');
    const put = { method: 'PUT', path: '/bucket/large', headers: { 'x-amz-acl': 'public-read' }, body };
    expect((await send(service, put)).status).toBe(200);
    const download = { path: '/bucket/large' };
    const { host } = new URL(service.url);
    const ask = async (key: Key | null): Promise<number> => {
      const request = key === null ? anonymous(host, download) : signed(host, download, { key });
      return (await exchange(service.url, request)).status;
    };

    // All strangers are one caller.
    const begun = performance.now();
    for (let count = 0; count < 12; count += 1) await trickle(service, download);
    expect(await ask(null)).toBe(503);
    for (const key of [bob, alice]) expect(await ask(key)).toBe(200);
    // Two callers fill the places together.
    for (let count = 0; count < 4; count += 1) await trickle(service, download, bob);
    const early = await ask(alice);
    if (performance.now() - begun < 8000) expect(early).toBe(503);
    await eventually(async () => expect(await ask(alice)).toBe(200));
    expect(performance.now() - begun).toBeGreaterThan(8000);
  });
});

/** Downloads a few bytes at a time, by default as a stranger. */
async function trickle(service: Service, request: Unsigned, key: Key | null = null): Promise<void> {
  const socket = await unread(service, request, key);
  const timer = setInterval(() => void socket.read(16), 100);
  onTestFinished(() => clearInterval(timer));
}
