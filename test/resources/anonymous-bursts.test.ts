import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schemeOptions } from '../support/clients/certificates.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { exchange, RawConnection, type RawRequest } from '../support/clients/raw-client.ts';
import { startService, type Service } from '../support/programs/server.ts';
import { workersOf } from '../support/programs/worker-processes.ts';
import { freePort } from '../support/runs/free-port.ts';
import { runs } from '../support/runs/runs.ts';
import { memoryOf } from './processes.ts';

/** Strangers who ask for much at once, again and again, and break their connections off before anything is answered. */

const MiB = 1024 * 1024;
const isLong = runs(1) > 1;
/** Connections and seconds of a burst, and how many there are. The long form lasts for 30 seconds. */
const [perSecond, seconds, bursts] = [50, isLong ? 6 : 1, 5];
const pipelined = 1400;
/** What the third and all later bursts may add to the memory after the second: the first ones fill what the heap keeps of it. */
const mostGrowth = 64 * MiB;

const targets = [
  ['api', '/bucket'],
  ['website', '/'],
  ['console', '/'],
  ['metrics', '/metrics'],
] as const;
/** The gate has those that ended the service. */
const cases = (isLong ? targets : targets.slice(0, 1)).flatMap(([listener, target]) =>
  ['http', 'https'].flatMap((scheme) =>
    (isLong ? ['1', '2'] : ['1']).map((workers) => ({ listener, target, scheme, workers })),
  ),
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-bursts-'));
  const service = await startService({ data: join(folder, 'data') });
  const client = new PooledClient(service);
  const headers = { 'x-amz-object-ownership': 'ObjectWriter', 'x-amz-acl': 'public-read' };
  expect((await client.send({ method: 'PUT', path: '/bucket', headers })).status).toBe(200);
  for (let at = 0; at < 1000; at += 1) {
    const path = `/bucket/${String(at).padStart(200, '0')}`;
    expect((await client.send({ method: 'PUT', path, body: 'x' })).status).toBe(200);
  }
  const body =
    '<WebsiteConfiguration><IndexDocument><Suffix>index.html</Suffix></IndexDocument></WebsiteConfiguration>';
  expect((await client.send({ method: 'PUT', path: '/bucket', query: 'website', body })).status).toBe(200);
  const index = {
    method: 'PUT',
    path: '/bucket/index.html',
    body: 'x'.repeat(30_000),
    headers: { 'x-amz-acl': 'public-read' },
  };
  expect((await client.send(index)).status).toBe(200);
  client.close();
  await service.stop();
});
afterAll(() => rm(folder, { recursive: true }));

/** Opens connections that send their requests and are reset, evenly over the time of a burst. */
async function burst(url: string, bytes: string, authority: string | undefined): Promise<void> {
  const all: Promise<void>[] = [];
  for (let at = 0; at < perSecond * seconds; at += 1) {
    all.push(
      RawConnection.open(url, authority).then(async (connection) => {
        await connection.sent(bytes);
        connection.reset();
      }),
    );
    await sleep(1000 / perSecond);
  }
  await Promise.all(all);
}

const health: RawRequest = { method: 'GET', target: '/_stillage/health', headers: [['host', 'localhost']] };

describe.each(cases)(
  'bursts of requests to $listener over $scheme, of a service of $workers processes,',
  ({ listener, target, scheme, workers }) => {
    it('leave it neither larger nor later from one to the next, and it stops soon', async () => {
      const { authority, tls } = await schemeOptions(scheme, folder);
      const [consolePort, metricsPort] = [await freePort(), await freePort()];
      const args = ['--workers', workers, '--metrics-port', String(metricsPort), ...tls];
      const env = { NODE_OPTIONS: '--max-old-space-size=256', STILLAGE_CONSOLE_PORT: String(consolePort) };
      const service: Service = await startService({ data: join(folder, 'data'), args, env });
      let hasStopped = false;
      try {
        const host = listener === 'website' ? 'bucket.website.localhost' : 'localhost';
        const ports = { api: service.port, website: service.port, console: consolePort, metrics: metricsPort };
        const url = `${listener === 'metrics' ? 'http' : scheme}://localhost:${ports[listener]}`;
        const bytes = `GET ${target} HTTP/1.1\r\nhost: ${host}:${ports[listener]}\r\n\r\n`.repeat(pipelined);
        const processes = async (): Promise<number[]> => [service.pid, ...(await workersOf(service))];
        const begun = await processes();
        const memory: number[][] = [];
        const lateness: number[] = [];
        const ask = async (): Promise<void> => {
          const asked = performance.now();
          expect((await exchange(service.url, health, authority)).status).toBe(200);
          lateness.push(performance.now() - asked);
        };
        for (let at = 0; at < bursts; at += 1) {
          // While a burst lasts, and after it.
          const lasts = burst(url, bytes, authority);
          await ask();
          await lasts;
          await ask();
          // None has died, and was replaced by an empty one.
          expect(await processes()).toEqual(begun);
          memory.push(begun.map(memoryOf));
        }
        for (const [at] of begun.entries()) {
          const grown = Math.max(...memory.map((each) => each[at]!)) - memory[1]![at]!;
          expect(grown, JSON.stringify(memory)).toBeLessThan(mostGrowth);
        }
        // What a burst asks for would take minutes on a busy machine.
        expect(Math.max(...lateness), String(lateness)).toBeLessThan(20_000);
        const stopped = performance.now();
        expect(await service.stop()).toBe(0);
        hasStopped = true;
        expect(performance.now() - stopped).toBeLessThan(10_000);
      } finally {
        if (!hasStopped) await service.kill();
      }
    });
  },
);
