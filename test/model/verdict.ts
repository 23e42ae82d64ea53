import { afterAll, expect } from 'vitest';
import { SeededRandomness } from './actor.ts';
import { prepare, type Scenario } from './scenario.ts';
import { explore, wander, type Failure } from './scheduler.ts';

/** Whether to look at what takes minutes, too. */
export const isLong = process.env['STILLAGE_LONG'] !== undefined;

const looked = { scenarios: 0, states: 0, ends: 0, plays: 0 };
afterAll(() => {
  if (isLong || process.env['STILLAGE_TALLY'] !== undefined) console.log('looked at', looked, process.cpuUsage());
});

/** Every schedule of the scenario is right. */
export async function expectToHold(scenario: Scenario, limit = 200_000): Promise<void> {
  const { states, ends, plays, complete, failure } = await explore(await prepare(scenario), limit);
  looked.scenarios += 1;
  looked.states += states;
  looked.ends += ends;
  looked.plays += plays;
  if (failure) expect.fail(told(failure));
  expect(complete, `there is more to see than ${limit} states`).toBe(true);
  expect(ends).toBeGreaterThan(0);
}

/** Some schedule of the scenario goes wrong in this way: the rule that was taken out is needed. */
export async function expectToBreak(scenario: Scenario, how: RegExp, limit = 200_000): Promise<void> {
  const { states, plays, failure } = await explore(await prepare(scenario), limit);
  looked.scenarios += 1;
  looked.states += states;
  looked.plays += plays;
  expect(failure?.what, failure && told(failure)).toMatch(how);
}

/** So many schedules, chosen by chance from a seed, are right. A failure names the seed. */
export async function expectToHoldAtRandom(scenario: Scenario, seed: string, plays: number): Promise<void> {
  const build = await prepare(scenario);
  for (let play = 0; play < plays; play += 1) {
    const randomness = new SeededRandomness(`${seed} ${play}`);
    const failure = await wander(build(), (end) => randomness.below(end));
    looked.plays += 1;
    if (failure) expect.fail(`play ${play} of seed ${seed}: ${told(failure)}`);
  }
  looked.scenarios += 1;
}

function told({ what, trace }: Failure): string {
  return `${what}\n  ${trace.join('\n  ')}`;
}
