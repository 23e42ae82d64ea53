import { createHash } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alice, startService, type Service } from '../support/server.ts';
import { signed } from '../support/signer.ts';

/*
 * How fast the service is, beside a bare node:http server that does the least a store must do: hash the body, write a file,
 * sync it, answer. Both run in one go on the same machine, so their ratio means something; the numbers alone do not.
 */

const KiB = 1024;
const MiB = 1024 * KiB;

interface Contestant {
  readonly name: string;
  readonly url: string;
  /** Headers that a request needs. */
  readonly headers: (method: string, path: string, query?: string) => Record<string, string>;
}

interface Work {
  readonly name: string;
  readonly method: 'PUT' | 'GET' | 'HEAD';
  readonly size: number;
  readonly callers: number;
  readonly count: number;
  readonly path: (at: number) => string;
  readonly query?: string;
}

const works: readonly Work[] = [
  {
    name: 'PUT 4 KiB, 32 callers',
    method: 'PUT',
    size: 4 * KiB,
    callers: 32,
    count: 4000,
    path: (at) => `/bench/small/${at}`,
  },
  {
    name: 'GET 4 KiB, 32 callers',
    method: 'GET',
    size: 4 * KiB,
    callers: 32,
    count: 8000,
    path: (at) => `/bench/small/${at % 4000}`,
  },
  {
    name: 'HEAD, 32 callers',
    method: 'HEAD',
    size: 0,
    callers: 32,
    count: 8000,
    path: (at) => `/bench/small/${at % 4000}`,
  },
  {
    name: 'PUT 64 MiB, 2 callers',
    method: 'PUT',
    size: 64 * MiB,
    callers: 2,
    count: 8,
    path: (at) => `/bench/large/${at}`,
  },
  {
    name: 'GET 64 MiB, 2 callers',
    method: 'GET',
    size: 64 * MiB,
    callers: 2,
    count: 16,
    path: (at) => `/bench/large/${at % 8}`,
  },
];

const listing: Work = {
  name: 'LIST 1,000 keys',
  method: 'GET',
  size: 0,
  callers: 4,
  count: 200,
  path: () => '/bench',
  query: 'list-type=2&prefix=small',
};

const service = await startService();
const bare = await startBare();
try {
  const contestants = [stillage(service), { name: 'bare', url: bare.url, headers: () => ({}) }];
  await run(contestants[0]!, { ...works[0]!, method: 'PUT', size: 0, count: 1, callers: 1, path: () => '/bench' });
  process.stdout.write(
    `${'work'.padEnd(24)}${'Stillage'.padStart(16)}${'bare node:http'.padStart(16)}${'ratio'.padStart(8)}\n`,
  );
  for (const work of works) {
    const [own, other] = [await run(contestants[0]!, work), await run(contestants[1]!, work)];
    const ratio = (own.perSecond / other.perSecond).toFixed(2);
    process.stdout.write(
      `${work.name.padEnd(24)}${shown(own, work).padStart(16)}${shown(other, work).padStart(16)}${ratio.padStart(8)}\n`,
    );
  }
  const listed = await run(contestants[0]!, listing);
  process.stdout.write(`${listing.name.padEnd(24)}${shown(listed, listing).padStart(16)}\n`);
} finally {
  await service.stop();
  await bare.stop();
}

function stillage({ url }: Service): Contestant {
  const host = new URL(url).host;
  return {
    name: 'Stillage',
    url,
    headers: (method, path, query = '') => {
      const { headers } = signed(host, { method, path, query }, { key: alice, payloadHash: 'UNSIGNED-PAYLOAD' });
      return Object.fromEntries(headers.filter(([name]) => name.toLowerCase() !== 'content-length'));
    },
  };
}

/** Does a piece of work once. */
async function run({ url, headers }: Contestant, work: Work): Promise<{ perSecond: number; bytesPerSecond: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: work.callers });
  const { hostname, port } = new URL(url);
  const body = work.method === 'PUT' ? Buffer.alloc(work.size, 'x') : undefined;
  let next = 0;
  const one = (at: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const path = work.path(at);
      const outgoing = request(
        {
          agent,
          hostname,
          port,
          method: work.method,
          path: work.query ? `${path}?${work.query}` : path,
          headers: { ...headers(work.method, path, work.query), ...(body && { 'content-length': body.length }) },
        },
        (answer) => {
          answer
            .resume()
            .on('end', () =>
              answer.statusCode! < 300 ? resolve() : reject(new Error(`${path}: ${answer.statusCode}`)),
            );
        },
      );
      outgoing.on('error', reject).end(body);
    });
  const caller = async (): Promise<void> => {
    while (next < work.count) await one(next++);
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: work.callers }, caller));
  const seconds = (performance.now() - started) / 1000;
  agent.destroy();
  return { perSecond: work.count / seconds, bytesPerSecond: (work.count * work.size) / seconds };
}

function shown({ perSecond, bytesPerSecond }: { perSecond: number; bytesPerSecond: number }, work: Work): string {
  return work.size >= MiB ? `${(bytesPerSecond / MiB).toFixed(0)} MiB/s` : `${perSecond.toFixed(0)} /s`;
}

/** The least a store must do: no signatures, no metadata, no listings. */
async function startBare(): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-bench-'));
  const fileOf = (url: string): string => join(folder, url.replaceAll('/', '_'));
  const server: Server = createServer((incoming, answer) => {
    const handle = async (): Promise<void> => {
      const path = fileOf(incoming.url!);
      if (incoming.method === 'PUT') {
        const hash = createHash('md5');
        const file = await open(path, 'w');
        for await (const chunk of incoming as AsyncIterable<Buffer>) {
          hash.update(chunk);
          await file.write(chunk);
        }
        await file.datasync();
        await file.close();
        answer.setHeader('etag', hash.digest('hex')).end();
        return;
      }
      const file = await open(path);
      answer.setHeader('content-length', (await file.stat()).size);
      if (incoming.method === 'HEAD') {
        await file.close();
        answer.end();
      } else {
        file.createReadStream({ highWaterMark: 256 * KiB }).pipe(answer);
      }
    };
    handle().catch((error: unknown) => answer.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
