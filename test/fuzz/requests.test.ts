import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Random } from '../linearizability/random.ts';
import { PipelineInProcess, person } from '../support/storage/pipeline-in-process.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { startService } from '../support/programs/server.ts';
import { patience } from '../support/runs/patience.ts';
import { bytesOf, requestOf } from './requests.ts';

const isLong = (process.env['TEST_LONG'] ?? '') !== '';
/** Settable, to try a failure again: TEST_SEED=7. */
const seed = Number(process.env['TEST_SEED'] ?? 1);
const requests = Number(process.env['TEST_REQUESTS'] ?? (isLong ? 400_000 : 6000));
const connections = Number(process.env['TEST_CONNECTIONS'] ?? (isLong ? 60_000 : 1500));
/** After so many requests there is a new service, so that a failure is soon tried again. */
const requestsOfService = 2000;
const atOnce = 16;

/** The statuses from 500 that are allowed: for features that are not implemented, and for other versions of HTTP. */
const documented = new Set([501, 505]);

describe('a request, whatever is in it,', () => {
  it('is answered, and with no error of the service, through the pipeline', { timeout: 3_600_000 }, async () => {
    const alice = person('alice');
    const statuses = new Map<number, number>();
    for (let at = 0; at < requests; at += requestsOfService) {
      const random = new Random(seed * 1_000_003 + at);
      const service = new PipelineInProcess([alice]);
      await service.send({ method: 'PUT', path: '/bucket' }, alice);
      await service.send({ method: 'PUT', path: '/bucket/key', body: 'content' }, alice);
      const former: unknown[] = [];
      for (let count = 0; count < Math.min(requestsOfService, requests); count += 1) {
        const request = requestOf(random);
        former.push(request);
        const { status, text } = await service.send(request, random.next() < 0.95 ? alice : undefined);
        increment(statuses, status);
        const isRight = (status >= 200 && status < 500) || documented.has(status);
        if (!isRight || service.problems.length > 0) {
          const problems = service.problems.flat().map((one) => (one instanceof Error ? one.stack : String(one)));
          const last = former
            .slice(-3)
            .map((one) => JSON.stringify(one))
            .join('\n');
          throw new Error(`seed ${seed}, request ${at + count}: ${status} ${text}\n${problems.join('\n')}\n${last}`);
        }
      }
    }
    expect(statuses.size).toBeGreaterThan(8);
    console.log(`${requests} requests, seed ${seed}:`, Object.fromEntries(statuses));
  });

  it('and whatever its bytes are, is answered or ended, and disturbs no other', { timeout: 3_600_000 }, async () => {
    const service = await startService({ alone: true });
    const client = new PooledClient(service);
    expect((await client.send({ method: 'PUT', path: '/bucket' })).status).toBe(200);
    expect((await client.send({ method: 'PUT', path: '/bucket/key', body: 'content' })).status).toBe(200);
    const statuses = new Map<number, number>();
    for (let at = 0; at < connections; at += atOnce) {
      const tries = Array.from({ length: atOnce }, async (_, index) => {
        const random = new Random(seed * 1_000_003 + at + index);
        const bytes = bytesOf(random, `127.0.0.1:${service.port}`);
        const received = await answersTo(service.port, bytes, random);
        for (const [, status] of received.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
          const code = Number(status);
          increment(statuses, code);
          if (code >= 500 && !documented.has(code)) {
            throw new Error(
              `seed ${seed}, request ${at + index}: ${JSON.stringify(bytes.toString('latin1'))}\n${received}`,
            );
          }
        }
      });
      await Promise.all(tries);
      expect((await client.send({ path: '/bucket/key' })).text).toBe('content');
    }
    client.close();
    expect(service.output.stdout).not.toContain('"level":"error"');
    expect(await service.stop()).toBe(0);
    expect(statuses.size).toBeGreaterThan(3);
    console.log(`${connections} connections, seed ${seed}:`, Object.fromEntries(statuses));
  });
});

function increment(counts: Map<number, number>, status: number): void {
  counts.set(status, (counts.get(status) ?? 0) + 1);
}

/** Sends bytes in up to three pieces on a new connection, ends it, and returns all that came until the other side ended, too. */
function answersTo(port: number, bytes: Buffer, random: Random): Promise<string> {
  const cuts = [random.below(bytes.length + 1), random.below(bytes.length + 1)].sort((a, b) => a - b);
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => {
      socket.write(bytes.subarray(0, cuts[0]));
      setImmediate(() => {
        socket.write(bytes.subarray(cuts[0], cuts[1]));
        setImmediate(() => socket.end(bytes.subarray(cuts[1])));
      });
    });
    socket.setTimeout(patience, () => {
      socket.destroy();
      reject(new Error(`no end after: ${JSON.stringify(bytes.toString('latin1'))}`));
    });
    socket.setEncoding('latin1').on('data', (text: string) => (received += text));
    // A connection that is reset has ended as well.
    socket.on('error', () => resolve(received));
    socket.on('close', () => resolve(received));
    socket.on('end', () => socket.destroy());
  });
}
