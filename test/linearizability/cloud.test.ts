import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startEngines, type Engines } from '../support/cloud/engines.ts';
import { noEngine } from '../support/cloud/moto.ts';
import { buildInstance, CloudInstances } from './cloud-instances.ts';
import { plantedFaults, type FaultName } from './planted-faults.ts';
import type { Histories } from './history.ts';
import { Random } from './random.ts';
import { Workload } from './workload.ts';

const isLong = (process.env['TEST_LONG'] ?? '') !== '';
/** Settable, to try one history again: TEST_SEED=7. */
const firstSeed = Number(process.env['TEST_SEED'] ?? 1);
const seeds = Number(process.env['TEST_SEEDS'] ?? (isLong ? 20 : 1));
const requests = Number(process.env['TEST_REQUESTS'] ?? (isLong ? 10_000 : 900));
/** The requests within which every planted fault must be found. Most need one round; on a busy machine, with less overlap, several. */
const requestsOfFault = 9_000;
/** The approximate number of requests in a round, after which everything is read, and the number of processes killed during it. */
const requestsPerRound = 300;
const killsPerRound = 2;
/** No larger, because DynamoDB and S3 are simulated: most of the time is spent on work other than moving bytes. */
const largestObject = 40_000;
/** The milliseconds that a few rounds may take on a machine that is busy with something else. */
const patience = 600_000;

let folder: string;
let program: string;
let engines: Engines | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-linearizable-'));
  [program, engines] = await Promise.all([buildInstance(folder), startEngines()]);
}, patience);
beforeEach((context) => {
  if (engines === undefined) context.skip(noEngine);
});
afterAll(async () => {
  await engines?.stop();
  await rm(folder, { recursive: true });
});

/**
 * As with the service on one machine, an order of the requests explains every answer, whatever AWS does to calls of the table and the
 * blobs, and whichever process is killed.
 */
describe('the requests of many clients to several processes of the cloud', () => {
  const all = Array.from({ length: seeds }, (_, index) => firstSeed + index);

  it.each(all)('are linearizable, with the seed %i', { timeout: patience + requests * 200 }, async (seed) => {
    const { histories, instances, kills } = await run({ seed, isEnough: ({ requests: sent }) => sent >= requests });
    await histories.expectLinearizable(`seed ${seed} in the cloud`);
    expect(instances.errors).toEqual([]);
    expect(kills).toBeGreaterThan(1);
    console.log(`seed ${seed}: ${histories.requests} requests, ${kills} kills`, instances.aws.fates);
  });
});

describe('the check of the service', () => {
  const names = Object.keys(plantedFaults) as FaultName[];

  it.each(names)('finds that %s', { timeout: patience }, async (fault) => {
    let found: string | undefined;
    const isEnough = ({ groups, requests: sent }: Histories): boolean => {
      found = groups.map((group) => group.check()).find((wrong) => wrong !== undefined);
      return found !== undefined || sent >= requestsOfFault;
    };
    await run({ seed: 1, isEnough, fault }).catch((error: Error) => (found = error.message));
    expect(found).toMatch(/Nothing explains the answer|was answered 500/);
  });
});

/** Sends requests, round by round, while everything goes wrong that can. */
async function run({
  seed,
  isEnough,
  fault,
}: {
  readonly seed: number;
  readonly isEnough: (histories: Histories) => boolean;
  readonly fault?: FaultName;
}): Promise<{ readonly histories: Histories; readonly instances: CloudInstances; readonly kills: number }> {
  const random = new Random(seed);
  const workload = new Workload(seed, largestObject);
  const { histories } = workload;
  const instances = await CloudInstances.start(engines!, { program, random, fault });
  const auditor = instances.connect(random);
  let kills = 0;
  try {
    await workload.prepare(auditor.send);
    do {
      instances.aws.isReliable = false;
      await round(workload, instances, random);
      kills += killsPerRound;
      instances.aws.isReliable = true;
      await instances.aws.settle();
      histories.processEnded();
      await workload.audit(auditor.send);
    } while (!isEnough(histories));
  } catch (error) {
    // An answer that is wrong by itself, such as a 500, is explained by the log.
    throw new Error([(error as Error).message, ...instances.errors].join('\n'), { cause: error });
  } finally {
    auditor.close();
    await instances.stop();
  }
  return { histories, instances, kills };
}

/** Sends some requests, and kills processes while they run. */
async function round(workload: Workload, instances: CloudInstances, random: Random): Promise<void> {
  const { histories } = workload;
  const before = histories.requests;
  let isStopped = false;
  const work = workload.run(
    () => instances.connect(random),
    () => isStopped,
  );
  const reaches = async (count: number): Promise<void> => {
    while (histories.requests < before + count) await Promise.race([work, sleep(random.next() * 10)]);
  };
  try {
    for (let kill = 0; kill < killsPerRound; kill += 1) {
      await reaches((requestsPerRound * (kill + random.next())) / killsPerRound);
      await instances.kill();
    }
    await reaches(requestsPerRound);
  } finally {
    isStopped = true;
    await work;
  }
}
