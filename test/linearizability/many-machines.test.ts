import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type Postgres } from '../support/storage/postgres.ts';
import type { Histories } from './history.ts';
import { Random } from './random.ts';
import { faultNames, TableServers, type ServerFault } from './table-servers.ts';
import { Workload } from './workload.ts';

const isLong = (process.env['TEST_LONG'] ?? '') !== '';
/** Settable, to try one history again: TEST_SEED=7. */
const firstSeed = Number(process.env['TEST_SEED'] ?? 1);
const seeds = Number(process.env['TEST_SEEDS'] ?? (isLong ? 20 : 2));
const requests = Number(process.env['TEST_REQUESTS'] ?? (isLong ? 10_000 : 900));
/** The requests within which every planted fault must be found. Most need one round; on a busy machine, with less overlap, several. */
const requestsOfFault = 9_000;
/** The approximate number of requests in a round, after which everything is read, and what goes wrong during it. */
const requestsPerRound = 300;
const disturbancesPerRound = 3;
const largestObject = 40_000;
/** As often as clients of a bucket do not change it, but often enough that others go by what they remember of it. */
const changes = { 'set versioning': 4 };
/** The milliseconds that a few rounds may take on a machine that is busy with something else. */
const patience = 600_000;

let postgres: Postgres;
let schemas = 0;
beforeAll(async () => {
  // It is never killed here: test/many-machines/servers.test.ts does that.
  postgres = await startPostgres('-c', 'fsync=off');
}, patience);
afterAll(() => postgres?.stop());

/**
 * As with the service on one machine, an order of the requests explains every answer: whichever server is asked, whatever it remembers, and
 * whichever server or connection is lost.
 */
describe.each([
  { notifies: true, which: 'that tell each other of changes' },
  { notifies: false, which: 'whose notifications are lost' },
])('the requests of many clients to servers $which', ({ notifies }) => {
  const all = Array.from({ length: seeds }, (_, index) => firstSeed + index);

  it.each(all)('are linearizable, with the seed %i', { timeout: patience + requests * 200 }, async (seed) => {
    const { histories, problems } = await run({ seed, notifies, isEnough: ({ requests: sent }) => sent >= requests });
    await histories.expectLinearizable(`seed ${seed} on many machines`);
    expect(problems).toEqual([]);
    const answered = histories.groups.flatMap(({ recorded }) => recorded).filter(({ answer }) => answer !== undefined);
    // Most of what was sent, so that the check sees something.
    expect(answered.length).toBeGreaterThan(histories.requests / 2);
    console.log(`seed ${seed}: ${histories.requests} requests, ${answered.length} answered`);
  });
});

describe('the check of servers', () => {
  it.each(faultNames)('finds that %s', { timeout: patience }, async (fault) => {
    let found: string | undefined;
    const isEnough = ({ groups, requests: sent }: Histories): boolean => {
      found = groups.map((group) => group.check()).find((wrong) => wrong !== undefined);
      return found !== undefined || sent >= requestsOfFault;
    };
    await run({ seed: 1, notifies: false, isEnough, fault }).catch((error: Error) => (found = error.message));
    expect(found).toMatch(/Nothing explains the answer|was answered 500/);
  });
});

/** Sends requests, round by round, while connections and servers are lost. */
async function run({
  seed,
  notifies,
  isEnough,
  fault,
}: {
  readonly seed: number;
  readonly notifies: boolean;
  readonly isEnough: (histories: Histories) => boolean;
  readonly fault?: ServerFault;
}): Promise<{ readonly histories: Histories; readonly problems: readonly string[] }> {
  const random = new Random(seed);
  const workload = new Workload(seed, largestObject, changes);
  const { histories } = workload;
  const schema = `linearizable_${(schemas += 1)}`;
  const servers = await TableServers.start({ url: postgres.url, schema, random, notifies, fault });
  const auditor = servers.connect(random);
  try {
    await workload.prepare(auditor.send);
    do {
      await round(workload, servers, random);
      await servers.settle();
      histories.processEnded();
      await workload.audit(auditor.send);
    } while (!isEnough(histories));
  } catch (error) {
    // An answer that is wrong by itself, such as a 500, is explained by what was logged.
    throw new Error([(error as Error).message, ...servers.problems].join('\n'), { cause: error });
  } finally {
    await servers.stop();
  }
  return { histories, problems: servers.problems };
}

/** Sends some requests, and lets something go wrong while they run. */
async function round(workload: Workload, servers: TableServers, random: Random): Promise<void> {
  const { histories } = workload;
  const before = histories.requests;
  let isStopped = false;
  const work = workload.run(
    () => servers.connect(random),
    () => isStopped,
  );
  const reaches = async (count: number): Promise<void> => {
    while (histories.requests < count) await Promise.race([work, sleep(random.next() * 10)]);
  };
  try {
    for (let disturbance = 0; disturbance < disturbancesPerRound; disturbance += 1) {
      await reaches(before + (requestsPerRound * (disturbance + random.next())) / disturbancesPerRound);
      await Promise.race([work, servers.disturb((more) => reaches(histories.requests + more))]);
      histories.brokenEnded();
    }
    await reaches(before + requestsPerRound);
  } finally {
    isStopped = true;
    await work;
  }
}
