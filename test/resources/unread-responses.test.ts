import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PooledClient } from '../support/pooled-client.ts';
import { exchange, requestBytes, type RawResponse } from '../support/raw-client.ts';
import { alice, startService, type Service } from '../support/server.ts';
import { signed, type Unsigned } from '../support/signer.ts';

vi.setConfig({ testTimeout: 120_000 });

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
async function unread({ port, url }: Service, request: Unsigned): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(requestBytes(signed(new URL(url).host, request, { key: alice })));
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
    await vi.waitFor(async () => expect((await send(service, listing)).status).toBe(200), { timeout: 30_000 });
    sockets.pop()!.resume();
    await vi.waitFor(
      async () =>
        expect((await Promise.all([1, 2].map(() => send(service, listing)))).map((one) => one.status)).toEqual([
          200, 200,
        ]),
      { timeout: 30_000 },
    );
  });
});
