import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { schemeOptions } from '../support/clients/certificates.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { requestBytes } from '../support/clients/raw-client.ts';
import { runs } from '../support/runs/runs.ts';
import { isHeld } from '../support/programs/server-sockets.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';

/** Clients that are gone without a word: they neither send nor read any more, and do not close the connection, not even when the service has. */

const deployments = ['http', 'https'].flatMap((scheme) => ['1', '2'].map((workers) => [scheme, workers] as const));
const limits = 'requestDuration=10000,bodyIdle=1000,readerIdle=1000';
/** Far above the time after which the service closes a connection, and far below what Node and the system would take. */
const soon = { timeout: 100_000, interval: 200 };

const small = Buffer.alloc(30_000, 'small ');
const medium = Buffer.alloc(1_000_000, 'medium ');
/** More than the buffers of two sockets hold. */
const large = Buffer.alloc(24 * 1024 * 1024, 'large ');

/** A connection as its client sees it. */
interface Client {
  readonly tcp: Socket;
  /** The same, or TLS over it. */
  readonly socket: Socket;
  received: string;
}

/** When clients vanish, what they have sent by then, and what they get. */
interface Case {
  readonly when: string;
  readonly sent: (bytesOf: (request: Unsigned) => Buffer) => string | Buffer;
  /** How many times, with pauses. Default: once. */
  readonly times?: number;
  /** Null: they do not read it. */
  readonly answer: string | null;
}

const upload = { method: 'PUT', path: '/bucket/upload' };
const cases: readonly Case[] = [
  { when: 'before a request', sent: () => '', answer: '408 RequestTimeout' },
  { when: 'in a head', sent: (of) => of({ path: '/bucket' }).subarray(0, -1), answer: '408 RequestTimeout' },
  {
    when: 'in the head of a later request',
    sent: (of) => Buffer.concat([of({ method: 'HEAD', path: '/bucket' }), Buffer.from('GET / HTTP/1.1\r\n')]),
    answer: '200, 408 RequestTimeout',
  },
  {
    when: 'in a small body',
    sent: (of) => of({ ...upload, body: small }).subarray(0, -1),
    answer: '400 RequestTimeout',
  },
  {
    when: 'in a large body',
    sent: (of) => of({ ...upload, body: medium }).subarray(0, -1),
    answer: '400 RequestTimeout',
  },
  {
    when: 'before a body that was asked for',
    sent: (of) => of({ ...upload, headers: { expect: '100-continue' }, body: small }).subarray(0, -small.length),
    answer: '100, 400 RequestTimeout',
  },
  {
    when: 'in a body that was refused',
    sent: (of) => of({ ...upload, path: '/absent/upload', body: small }).subarray(0, -1),
    answer: '404 NoSuchBucket',
  },
  { when: 'after something that is not HTTP', sent: () => 'nothing\r\n\r\n', answer: '400 InvalidRequest' },
  {
    when: 'after CONNECT',
    sent: () => 'CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n',
    answer: '405 MethodNotAllowed',
  },
  { when: 'while they are sent a large object', sent: (of) => of({ path: '/bucket/large' }), answer: null },
  {
    when: 'while they are sent many small objects',
    sent: (of) => of({ path: '/bucket/small' }),
    times: 400,
    answer: null,
  },
];

describe.concurrent.each(deployments)(
  'clients over %s that vanish, of a service of %s processes,',
  (scheme, workers) => {
    let folder: string;
    let authority: string | undefined;
    let service: Service;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'stillage-vanished-'));
      const data = join(folder, 'data');
      const former = await startService({ data });
      const client = new PooledClient(former);
      for (const [path, body] of [['/bucket'], ['/bucket/small', small], ['/bucket/large', large]] as const) {
        expect((await client.send({ method: 'PUT', path, ...(body && { body }) })).status).toBe(200);
      }
      client.close();
      await former.stop();
      const options = await schemeOptions(scheme, folder);
      authority = options.authority;
      service = await startService({ data, args: ['--workers', workers, '--limit', limits, ...options.tls] });
    });
    afterAll(async () => {
      expect(await service.stop()).toBe(0);
      expect(service.output.stdout).not.toContain('"level":"error"');
      await rm(folder, { recursive: true });
    });

    const bytesOf = (request: Unsigned): Buffer =>
      requestBytes(signed(new URL(service.url).host, request, { key: alice }));
    /** Waits until the service holds a connection, or no longer does. */
    const untilHeld = (
      held: boolean,
      { localPort }: Socket,
      { timeout }: { readonly timeout: number } = soon,
    ): Promise<void> =>
      vi.waitFor(
        async () => {
          if ((await isHeld(service.port, localPort!)) !== held) throw new Error(`it is ${held ? 'not held' : 'kept'}`);
        },
        { ...soon, timeout },
      );

    async function open(): Promise<Client> {
      const tcp = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
      await once(tcp, 'connect');
      const socket =
        authority === undefined ? tcp : connectTls({ socket: tcp, ca: authority, servername: 'localhost' });
      if (socket !== tcp) await once(socket, 'secureConnect');
      // Before, the system has it, and nobody holds it.
      await untilHeld(true, tcp);
      // Those that the service has reset.
      for (const one of [tcp, socket]) one.on('error', () => undefined);
      return { tcp, socket, received: '' };
    }

    /** Sends what clients send in a case, and returns what they have received once the service has closed the connection. */
    async function vanish(client: Client, { sent, times = 1, answer }: Case): Promise<string | null> {
      if (answer !== null) client.socket.on('data', (bytes) => (client.received += String(bytes)));
      for (let at = 0; at < times; at += 1) {
        client.socket.write(sent(bytesOf));
        await sleep(2);
      }
      await untilHeld(false, client.tcp);
      if (answer === null) return null;
      const statuses = [...client.received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
      return `${statuses.join(', ')} ${/<Code>(\w+)/.exec(client.received)?.[1]}`;
    }

    it('are not kept', async () => {
      // Of two processes, each gets some of them.
      const each = workers === '1' ? 1 : 3;
      const clients: { readonly client: Client; readonly one: Case; readonly outcome: Promise<string | null> }[] = [];
      try {
        for (const one of cases) {
          for (let at = 0; at < each; at += 1) {
            const client = await open();
            clients.push({ client, one, outcome: vanish(client, one).catch((error: Error) => error.message) });
          }
        }
        const found = await Promise.all(clients.map(async ({ one, outcome }) => `${one.when}: ${await outcome}`));
        expect(found).toEqual(clients.map(({ one }) => `${one.when}: ${one.answer}`));
      } finally {
        for (const { client } of clients) client.tcp.destroy();
      }
    });

    it.runIf(scheme === 'https')('are not kept in the handshake either', async () => {
      const tcp = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true });
      try {
        await once(tcp, 'connect');
        await untilHeld(true, tcp);
        await untilHeld(false, tcp);
      } finally {
        tcp.destroy();
      }
    });

    // It takes more than a minute.
    it.runIf(runs(1) > 1)('are not kept for long after an answer', async () => {
      const client = await open();
      try {
        client.socket.on('data', (bytes) => (client.received += String(bytes)));
        client.socket.write(bytesOf({ method: 'HEAD', path: '/bucket/small' }));
        await vi.waitFor(() => expect(client.received).toContain('HTTP/1.1 200'), soon);
        await untilHeld(false, client.tcp, { timeout: 100_000 });
      } finally {
        client.tcp.destroy();
      }
    });
  },
);
