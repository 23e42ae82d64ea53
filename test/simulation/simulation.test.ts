import { afterAll, describe, expect, it } from 'vitest';
import { knownFaults } from './planted.ts';
import { simulate, type DeploymentKind } from './simulation.ts';

/*
 * The whole service and its clients in one process, in virtual time, with everything in an order that a seed decides: docs/testing.md.
 * To try a failure again: TEST_SEED=7 npx vitest run test/simulation
 */

const isLong = (process.env['TEST_LONG'] ?? '') !== '';
const firstSeed = Number(process.env['TEST_SEED'] ?? 1);
const seeds = Number(process.env['TEST_SEEDS'] ?? (isLong ? 175 : 1));
const requests = Number(process.env['TEST_REQUESTS'] ?? (isLong ? 3000 : 2000));
/** The requests within which every planted fault must be found. */
const requestsOfFault = 2000;
/** How many histories may miss a fault, or find it by another check, before it counts as not found. */
const seedsOfFault = 8;
const deployments: readonly DeploymentKind[] = ['machine', 'cloud'];

describe.each(deployments)('a service that is simulated as it runs (%s)', (deployment) => {
  const all = Array.from({ length: seeds }, (_, index) => firstSeed + index);
  const sum = { seeds: 0, requests: 0, events: 0, kills: 0, days: 0, unchecked: 0 };
  afterAll(() => {
    console.log(`${deployment}, seeds ${firstSeed} to ${firstSeed + seeds - 1}:`, sum);
    // Of nine histories for each seed.
    expect(sum.unchecked).toBeLessThan(seeds);
  });

  it.each(all)('keeps what it promises, whatever goes wrong, with the seed %i', { timeout: 600_000 }, async (seed) => {
    const { hash: _, ...report } = await simulate({ seed, deployment, requests });
    sum.seeds += 1;
    for (const name of Object.keys(report) as (keyof typeof report)[]) sum[name] += report[name];
    expect(report.kills).toBeGreaterThan(1);
  });

  it('does the same again with the same seed', async () => {
    const options = { seed: firstSeed, deployment, requests: 400 };
    const report = await simulate(options);
    expect(await simulate(options)).toEqual(report);
    expect((await simulate({ ...options, seed: firstSeed + 1 })).hash).not.toBe(report.hash);
  });
});

describe('the simulation', () => {
  // A change of any request changes every history: which seed finds a fault is chance, that one of a few does is not.
  it.each(knownFaults)('finds $name', async ({ deployment, fault, message }) => {
    const found: string[] = [];
    while (found.length < seedsOfFault && !message.test(found.at(-1) ?? '')) {
      const seed = firstSeed + found.length;
      found.push(await simulate({ seed, deployment, requests: requestsOfFault, fault }).then(() => 'nothing', String));
    }
    expect(found.at(-1), found.join('\n')).toMatch(message);
  });
});
