import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { withoutBodies } from '../../../../shared/node-http/last-response.ts';
import { nodeHttpListener } from '../../../../shared/node-http/node-http.ts';
import { oneAfterAnother } from '../../../../shared/node-http/connections/one-after-another.ts';
import { readInSlices } from '../../../../shared/node-http/connections/sliced-reading.ts';
import { TrustedProxies } from '../../../../shared/node-http/connections/trusted-proxies.ts';
import { Fields } from '../../../../shared/http/message.ts';
import { defaultLimits } from '../../../../shared/protocol/limits.ts';
import { issueCertificate, type Certificates } from '../../../support/clients/certificates.ts';
import { RawConnection } from '../../../support/clients/raw-client.ts';
import { countTurns } from '../../../support/runs/turns.ts';
import { eventually } from '../../../support/runs/eventually.ts';

/** The most that Node reads from a connection at once. */
const oneRead = 64 * 1024;
const request = 'GET / HTTP/1.1\r\nhost: h\r\n\r\n';

let folder: string;
let certificates: Certificates;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-one-after-another-'));
  certificates = await issueCertificate(folder, ['localhost']);
});
afterAll(() => rm(folder, { recursive: true }));

let server: Server;
let client: RawConnection;
afterEach(async () => {
  client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Serves a client, and counts the requests that were parsed. */
async function serve(scheme: string, listener: RequestListener): Promise<{ parsed: () => number }> {
  const { certificate, key, authority } = certificates;
  const tls = { cert: await readFile(certificate), key: await readFile(key), allowHalfOpen: true };
  server = scheme === 'https' ? createTlsServer(tls, listener) : createServer(listener);
  readInSlices(server);
  let parsed = 0;
  server.on('request', () => (parsed += 1));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  client = await RawConnection.open(`${scheme}://localhost:${port}`, await readFile(authority, 'utf8'));
  return { parsed: () => parsed };
}

/** Lets what is pending happen, many times over. */
async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
}

it('the first client that sends many requests at once has one read of them parsed, and all others some', async () => {
  const begun: ServerResponse[] = [];
  const { parsed } = await serve(
    'http',
    oneAfterAnother((_, response) => void begun.push(response)),
  );
  const { port } = server.address() as AddressInfo;
  const second = await RawConnection.open(`http://127.0.0.1:${port}`);
  client.write(request.repeat(4000));
  await eventually(() => expect(begun).toHaveLength(1));
  await manyTurns();
  const first = parsed();
  expect(first).toBeLessThanOrEqual(Math.ceil(oneRead / request.length));
  second.write(request.repeat(4000));
  await eventually(() => expect(begun).toHaveLength(2));
  await manyTurns();
  expect(parsed() - first).toBe(15);
  second.close();
});

describe.each(['http', 'https'])('requests sent at once over %s', (scheme) => {
  it('are neither begun nor read on and on while the first is not answered', async () => {
    const begun: ServerResponse[] = [];
    const { parsed } = await serve(
      scheme,
      oneAfterAnother((_, response) => void begun.push(response)),
    );
    client.write(request.repeat(100_000));
    await eventually(() => expect(begun).toHaveLength(1));
    await manyTurns();
    expect(begun).toHaveLength(1);
    expect(parsed()).toBe(15);
  });

  it('are all answered, each in another turn', async () => {
    let count = 0;
    await serve(
      scheme,
      oneAfterAnother((_, response) => response.end(String((count += 1)))),
    );
    const { turns } = await countTurns(async () => {
      client.write(request.repeat(5000));
      for (let one = 1; one <= 5000; one += 1) expect((await client.response()).text).toBe(String(one));
    });
    expect(turns).toBeGreaterThanOrEqual(5000);
    client.write(request);
    expect((await client.response()).text).toBe('5001');
  });

  it('are not begun before the response to the one before was taken', async () => {
    let begun = 0;
    // More than the buffers of two sockets hold.
    const large = Buffer.alloc(16 * 1024 * 1024);
    await serve(
      scheme,
      oneAfterAnother((_, response) => {
        begun += 1;
        response.end(large);
      }),
    );
    client.pause();
    client.write(request.repeat(10));
    await eventually(() => expect(begun).toBe(1));
    await manyTurns();
    expect(begun).toBe(1);
  });

  it('are not begun for a client that has gone', async () => {
    const begun: ServerResponse[] = [];
    await serve(
      scheme,
      oneAfterAnother((_, response) => void begun.push(response)),
    );
    // So many that they are neither parsed nor read to their end.
    client.write(request.repeat(4000));
    await eventually(() => expect(begun).toHaveLength(1));
    client.reset();
    await once(begun[0]!, 'close');
    await manyTurns();
    expect(begun).toHaveLength(1);
  });

  it('are not begun after the last response of the connection', async () => {
    let begun = 0;
    await serve(
      scheme,
      oneAfterAnother((_, response) => {
        begun += 1;
        response.setHeader('connection', 'close').end();
      }),
    );
    client.write(request.repeat(10));
    expect((await client.response()).status).toBe(200);
    expect(await client.closedWithin(5000)).toBe(true);
    expect(begun).toBe(1);
  });
});

it('of many connections, no more wait than fit into some megabytes; a connection with few is not closed for that', async () => {
  const begun: ServerResponse[] = [];
  // What 8 of 20 connections bring, and less than 9.
  const room = 8.5 * 1500 * request.length;
  await serve(
    'http',
    oneAfterAnother((_, response) => void begun.push(response), room),
  );
  client.write(request.repeat(10));
  await eventually(() => expect(begun).toHaveLength(1));
  const { port } = server.address() as AddressInfo;
  const others: RawConnection[] = [];
  for (let count = 0; count < 20; count += 1) others.push(await RawConnection.open(`http://127.0.0.1:${port}`));
  for (const other of others) other.write(request.repeat(1500));
  await eventually(() => expect(begun).toHaveLength(1 + others.length));
  const closed = (await Promise.all(others.map((other) => other.closedWithin(200)))).filter(Boolean);
  others.forEach((other) => other.close());
  expect(closed).toHaveLength(12);
  begun[0]!.end();
  expect((await client.response()).status).toBe(200);
});

it('a body with ends of heads in it arrives as it was sent, between other requests, in pieces of any size', async () => {
  const bodies: string[] = [];
  await serve(
    'http',
    oneAfterAnother((message, response) => {
      void message.toArray().then((pieces) => {
        bodies.push(Buffer.concat(pieces as Buffer[]).toString());
        response.end('taken');
      });
    }),
  );
  const body = `${request}\r\n\r\n${request.repeat(30)}`;
  const put = `PUT / HTTP/1.1\r\nhost: h\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const chunked = `PUT / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const all = `${request}${put}${request.repeat(20)}${put}${put}${chunked}${request}`;
  const expected = ['', body, ...Array.from({ length: 20 }, () => ''), body, body, body, ''];
  for (const size of [1, 7, 61, 1021, all.length]) {
    for (let at = 0; at < all.length; at += size) await client.sent(all.slice(at, at + size));
    for (const _ of expected) expect((await client.response()).text).toBe('taken');
    expect(bodies.splice(0)).toEqual(expected);
  }
});

it('requests of a client that sends nothing more are all answered', async () => {
  let count = 0;
  await serve(
    'http',
    oneAfterAnother((_, response) => response.end(String((count += 1)))),
  );
  (server as Server & { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  client.write(request.repeat(100));
  client.end();
  for (let one = 1; one <= 100; one += 1) expect((await client.response()).text).toBe(String(one));
  expect(await client.closedWithin(5000)).toBe(true);
});

/** A body of one-byte chunks, which takes much longer to parse than to discard. */
const chunks = '1\r\na\r\n'.repeat(200_000);
const upload = `PUT / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`;

describe.each(['http', 'https'])('a body in chunks over %s', (scheme) => {
  it.each<[string, () => RequestListener]>([
    [
      'that is refused',
      () =>
        nodeHttpListener(
          { handle: async () => ({ status: 403, fields: new Fields(), body: 'refused' }) },
          {
            ...{ proxies: new TrustedProxies([]), limits: defaultLimits, keepAlive: () => true },
            telemetry: { problem: () => undefined },
          },
        ),
    ],
    [
      'where bodies mean nothing',
      () => oneAfterAnother(withoutBodies((_, response) => response.writeHead(403).end('refused'))),
    ],
  ])('%s is not parsed to its end, and its client gets the answer', async (_, listener) => {
    await serve(scheme, listener());
    let parsed = 0;
    server.on('request', (message) => {
      const push = message.push.bind(message);
      message.push = (chunk, encoding) => {
        parsed += 1;
        return push(chunk, encoding);
      };
    });
    await client.sent(`${upload}0\r\n\r\n`);
    expect(await client.response()).toMatchObject({ status: 403, text: 'refused' });
    expect(await client.closedWithin(5000)).toBe(true);
    expect(parsed).toBeLessThan((2 * oneRead) / 6);
  });
});
