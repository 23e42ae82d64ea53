import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { HeldRequest } from '../support/clients/held-request.ts';
import { PooledClient, type PooledResponse } from '../support/clients/pooled-client.ts';
import { exchange, RawConnection, requestBytes, type RawResponse } from '../support/clients/raw-client.ts';
import { alice, bob, startService, type Service } from '../support/programs/server.ts';
import { signed, type Key, type Unsigned } from '../support/clients/signer.ts';
import { handlesOf, idleConnections, memoryOf } from './processes.ts';
import { eventually } from '../support/runs/eventually.ts';

const MiB = 1024 * 1024;
const large = 40_000;
const bucketOf = ({ accessKeyId }: Key): string => (accessKeyId === bob.accessKeyId ? 'bobs' : 'alices');

async function start(...args: readonly string[]): Promise<Service> {
  const service = await startService({ args });
  onTestFinished(async () => {
    await service.kill();
  });
  for (const key of [alice, bob]) {
    expect((await send(service, { method: 'PUT', path: `/${bucketOf(key)}` }, key)).status).toBe(200);
  }
  return service;
}

function send({ url }: Service, request: Unsigned, key: Key = alice): Promise<RawResponse> {
  return exchange(url, signed(new URL(url).host, request, { key }));
}

const put = (name: string, key: Key = alice, size = large): Unsigned => ({
  method: 'PUT',
  path: `/${bucketOf(key)}/${name}`,
  body: Buffer.alloc(size, name),
});

/** Begins an upload without its last byte. */
const hold = (service: Service, name: string, key: Key = alice): Promise<HeldRequest> =>
  HeldRequest.begin({ url: service.url, host: new URL(service.url).host }, put(name, key), { key });

function expectSlowDown(response: RawResponse): void {
  expectError(response, 503, 'SlowDown');
  expect(response.header('retry-after')).toBe('1');
}

/** Sends all kinds of requests of a client that takes little, and returns their statuses. */
async function littleRequests(client: PooledClient, bucket: string, name: string): Promise<number[]> {
  const path = `/${bucket}/${name}`;
  const requests: Unsigned[] = [
    { method: 'PUT', path, body: 'small' },
    { path },
    { method: 'HEAD', path },
    { path: `/${bucket}`, query: 'list-type=2' },
    { method: 'PUT', path: `${path}-copy`, headers: { 'x-amz-copy-source': path } },
    { method: 'DELETE', path },
  ];
  const answers: PooledResponse[] = [];
  for (const request of requests) answers.push(await client.send(request));
  return answers.map(({ status }) => status);
}
const allServed = [200, 200, 200, 200, 200, 204];

describe('uploads beyond the capacity', () => {
  it('are refused before their bodies, while small requests and those of others are served', async () => {
    const service = await start('--limit', 'concurrentUploads=8');
    const clients = [new PooledClient(service, alice, 1), new PooledClient(service, bob, 1)] as const;
    onTestFinished(() => clients.forEach((client) => client.close()));

    // A project gets three quarters of the uploads.
    const held = await Promise.all(Array.from({ length: 6 }, (_, at) => hold(service, `held-${at}`)));
    const refused = await send(service, { ...put('refused'), headers: { expect: '100-continue' } });
    expectSlowDown(refused);
    expect(refused.interim).toEqual([]);
    expect(refused.header('connection')).toBe('close');
    held.push(await hold(service, 'held-6', bob), await hold(service, 'held-7', bob));
    expectSlowDown(await send(service, { ...put('refused', bob), headers: { expect: '100-continue' } }, bob));

    // Without Expect as well, in chunks, as a document and as a form.
    const document = `<Delete>${'<Object><Key>key</Key></Object>'.repeat(large / 30)}</Delete>`;
    const form = 'multipart/form-data; boundary=b';
    for (const request of [
      put('refused'),
      {
        method: 'POST',
        path: '/alices',
        query: 'delete',
        body: document,
        headers: { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' },
      },
      { method: 'POST', path: '/alices', body: Buffer.alloc(large), headers: { 'content-type': form } },
    ]) {
      const answer = await send(service, request);
      expect([answer.status, textOf(answer.text, 'Code')], answer.text).toEqual([503, 'SlowDown']);
    }
    const chunked = { ...put('refused'), headers: { 'transfer-encoding': 'chunked', 'content-length': null } };
    const framed = Buffer.concat([
      Buffer.from(`${large.toString(16)}\r\n`),
      Buffer.alloc(large),
      Buffer.from('\r\n0\r\n\r\n'),
    ]);
    const request = signed(new URL(service.url).host, chunked, { key: alice, payloadHash: 'UNSIGNED-PAYLOAD' });
    expectSlowDown(await exchange(service.url, { ...request, body: framed }));
    expect((await send(service, { path: '/alices/refused' })).status).toBe(404);

    for (const client of clients) {
      const bucket = client === clients[0] ? 'alices' : 'bobs';
      expect(await littleRequests(client, bucket, 'little')).toEqual(allServed);
      expect(
        (await client.send({ method: 'PUT', path: `/${bucket}/limit`, body: Buffer.alloc(32 * 1024) })).status,
      ).toBe(200);
    }
    expect((await held.pop()!.finish()).status).toBe(200);
    expect((await send(service, put('next', bob), bob)).status).toBe(200);
    for (const one of held) expect((await one.finish()).status).toBe(200);
    expect((await send(service, put('refused'))).status).toBe(200);
    expect((await send(service, { path: '/alices/held-0' })).body).toEqual(Buffer.from(put('held-0').body!));

    const lines = service.output.stdout.split('\n').filter((line) => line.includes('at capacity'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'error', uploads: 1 });
    expect(service.output.stdout).not.toContain('"status":500');
  });

  it('are counted by the metrics, and end with their connections', async () => {
    const service = await start('--limit', 'concurrentUploads=2', '--metrics-port', '19418');
    const metrics = async (): Promise<string> => (await fetch('http://127.0.0.1:19418/metrics')).text();
    const connection = await RawConnection.open(service.url);
    const bytes = requestBytes(signed(new URL(service.url).host, put('lost'), { key: alice }));
    connection.write(bytes.subarray(0, -1));
    await eventually(async () =>
      expect(await metrics()).toContain('stillage_uploads_in_progress{process="primary"} 1\n'),
    );
    const held = await hold(service, 'held');
    expectSlowDown(await send(service, put('refused')));
    expect(await metrics()).toContain('stillage_capacity_refusals_total{process="primary",of="uploads"} 1\n');
    connection.close();
    await eventually(async () => expect((await send(service, put('again'))).status).toBe(200));
    expect((await held.finish()).status).toBe(200);
    expect(await metrics()).toContain('stillage_uploads_in_progress{process="primary"} 0\n');
  });
});

describe('downloads beyond the capacity', () => {
  it('are refused, while what is small is read', async () => {
    const service = await start('--limit', 'concurrentDownloads=4');
    const client = new PooledClient(service, alice, 1);
    onTestFinished(() => client.close());
    expect((await send(service, put('large', alice, 64 * MiB))).status).toBe(200);
    const request = signed(new URL(service.url).host, { path: '/alices/large' }, { key: alice });
    const slow = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const { hostname, port } = new URL(service.url);
        const socket = connect(Number(port), hostname);
        onTestFinished(() => void socket.destroy());
        await once(socket, 'connect');
        socket.write(requestBytes(request));
        // One chunk, and then no more.
        await once(socket, 'readable');
        return socket;
      }),
    );
    const handles = handlesOf(service.pid);
    expectSlowDown(await send(service, { path: '/alices/large' }));
    expectSlowDown(await send(service, { path: '/alices/large', headers: { range: 'bytes=100-5000000' } }));
    expect(await littleRequests(client, 'alices', 'little')).toEqual(allServed);
    expect((await send(service, { method: 'HEAD', path: '/alices/large' })).status).toBe(200);
    await eventually(() => expect(handlesOf(service.pid)).toBeLessThanOrEqual(handles + 1));
    slow.pop()!.destroy();
    await eventually(async () =>
      expect((await send(service, { path: '/alices/large', headers: { range: 'bytes=0-99999' } })).status).toBe(206),
    );
  });
});

describe('clients that take up room', () => {
  it('cost others nothing: 2,000 idle connections and 500 slow uploads, whose memory and handles come back', async () => {
    // On a busy machine the last of them begin after the first would have been given up.
    const service = await start('--limit', 'bodyIdle=600000');
    const client = new PooledClient(service, bob, 2);
    onTestFinished(() => client.close());
    expect(await littleRequests(client, 'bobs', 'before')).toEqual(allServed);
    const [handles, memory] = [handlesOf(service.pid), memoryOf(service.pid)];

    const idle = await idleConnections(service.url, 2000);
    const host = new URL(service.url).host;
    const slow: RawConnection[] = [];
    for (let at = 0; at < 500; at += 1) {
      const connection = await RawConnection.open(service.url);
      const bytes = requestBytes(
        signed(host, put(`slow-${at}`, alice, 600_000), { key: alice, payloadHash: 'UNSIGNED-PAYLOAD' }),
      );
      await connection.sent(bytes.subarray(0, -1));
      slow.push(connection);
      if (at % 50 === 0) expect(await littleRequests(client, 'bobs', `during-${at}`)).toEqual(allServed);
    }
    await eventually(() => expect(handlesOf(service.pid)).toBeGreaterThanOrEqual(handles + 2000 + 2 * 500));
    for (let at = 0; at < 10; at += 1) {
      expect(await littleRequests(client, 'bobs', `while-${at}`)).toEqual(allServed);
      expect((await client.send(put(`large-${at}`, bob, 2 * MiB))).status).toBe(200);
      expect((await client.send({ path: `/bobs/large-${at}` })).body).toHaveLength(2 * MiB);
    }
    const peak = memoryOf(service.pid);
    for (const socket of idle) socket.destroy();
    for (const connection of slow) connection.close();
    await eventually(() => expect(handlesOf(service.pid)).toBeLessThanOrEqual(handles + 20));
    // Collected once the service is not busy any more.
    await eventually(() => expect(memoryOf(service.pid)).toBeLessThan(memory + (peak - memory) / 2));
    expect(await littleRequests(client, 'bobs', 'after')).toEqual(allServed);
    expect(service.output.stdout).not.toMatch(/"status":50\d/);
  });

  it('lose the connection that was idle for longest, if there are too many', async () => {
    const service = await start('--limit', 'concurrentConnections=20');
    const idle = await idleConnections(service.url, 100);
    const client = new PooledClient(service, alice, 1);
    onTestFinished(() => client.close());
    expect(await littleRequests(client, 'alices', 'key')).toEqual(allServed);
    const isOpen = (): number => idle.filter((socket) => !socket.closed && !socket.readableEnded).length;
    await eventually(() => expect(isOpen()).toBeLessThan(20));
    expect(idle.slice(-10).every((socket) => !socket.closed)).toBe(true);
    for (const socket of idle) socket.destroy();
  });

  it('are refused with SlowDown if all others are busy', async () => {
    const service = await start('--limit', 'concurrentConnections=4');
    const held = await Promise.all(Array.from({ length: 4 }, (_, at) => hold(service, `held-${at}`)));
    const refused = await send(service, { path: '/' });
    expectSlowDown(refused);
    expect(refused.header('connection')).toBe('close');
    for (const one of held) expect((await one.finish()).status).toBe(200);
    await eventually(async () => expect((await send(service, { path: '/' })).status).toBe(200));
  });
});
