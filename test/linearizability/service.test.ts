import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { workersOf } from '../support/programs/worker-processes.ts';
import type { Send } from './exchange.ts';
import { Random } from './random.ts';
import { Workload } from './workload.ts';

const isLong = (process.env['TEST_LONG'] ?? '') !== '';
/** Settable, to try one history again: TEST_SEED=7. */
const firstSeed = Number(process.env['TEST_SEED'] ?? 1);
const seeds = Number(process.env['TEST_SEEDS'] ?? (isLong ? 20 : 1));
const requests = Number(process.env['TEST_REQUESTS'] ?? (isLong ? 10_000 : 900));
/** About how many requests there are between two kills. */
const requestsPerRound = isLong ? 1000 : 300;

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'stillage-linearizable-'));
});
afterEach(() => rm(data, { recursive: true }));

/**
 * An order of the requests explains every answer of the service: each takes effect at one moment between its beginning and its end,
 * whichever process is killed.
 */
describe.each([1, 2])('the requests of many clients to %i processes, which are killed', (processes) => {
  const all = Array.from({ length: seeds }, (_, index) => firstSeed + index);

  it.each(all)('are linearizable, with the seed %i', { timeout: 60_000 + requests * 60 }, async (seed) => {
    const workload = new Workload(seed);
    const random = new Random(seed);
    let kills = 0;
    for (let isFirst = true; isFirst || workload.histories.requests < requests; isFirst = false) {
      const service = await startService({
        data,
        args: ['--workers', String(processes), '--limit', 'minimumPartBytes=1'],
      });
      const auditor = connect(service);
      if (isFirst) await workload.prepare(auditor.send);
      await workload.audit(auditor.send);
      auditor.close();

      const before = workload.histories.requests;
      let isStopped = false;
      const work = workload.run(
        () => connect(service),
        () => isStopped,
      );
      const reaches = async (count: number): Promise<void> => {
        while (workload.histories.requests < before + count) await Promise.race([work, sleep(random.next() * 10)]);
      };
      const enough = requestsPerRound * (0.5 + random.next());
      if (processes > 1) {
        await reaches(enough / 2);
        process.kill(random.oneOf(await workersOf(service)), 'SIGKILL');
        kills += 1;
      }
      await reaches(enough);
      isStopped = true;
      await service.kill();
      kills += 1;
      await work;
      workload.histories.processEnded();
      expect(errorsOf(service)).toEqual([]);
    }
    const service = await startService({ data });
    const auditor = connect(service);
    await workload.audit(auditor.send);
    auditor.close();
    expect(await service.stop()).toBe(0);
    await workload.histories.expectLinearizable(`seed ${seed} with ${processes} processes`);
    expect(kills).toBeGreaterThan(1);
    console.log(`seed ${seed}, ${processes} processes: ${workload.histories.requests} requests, ${kills} kills`);
  });
});

/** A client with one connection: with several workers, each has some of the clients. */
function connect(service: Service): { send: Send; close: () => void } {
  const client = new PooledClient(service, alice, 1);
  return { send: (unsigned) => client.send(unsigned), close: () => client.close() };
}

/**
 * Returns the errors in the service's log, except for the death of the worker that the test killed, and for copies and renames whose source
 * changed at every attempt, which are answered 503.
 */
function errorsOf({ output }: Service): string[] {
  const errors = output.stdout.split('\n').filter((line) => line.includes('"level":"error"'));
  return errors.filter(
    (line) => !/a worker died|a worker does not answer|the source changed at every attempt/.test(line),
  );
}
