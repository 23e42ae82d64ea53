import { expect } from 'vitest';
import { isShort } from '../support/runs.ts';
import { prepare, type Scenario } from './scenario.ts';
import { explore, type Failure } from './scheduler.ts';

/** Whether to look at what takes minutes, too. */
export const isLong = process.env['STILLAGE_LONG'] !== undefined;

/** States of a scenario that the short form looks at; the others are left to the full form, which looks at all. */
const shortLimit = 80;

/** What this process has looked at so far. */
export const looked = { scenarios: 0, states: 0, ends: 0, plays: 0 };

/** Every schedule of the scenario is right. */
export async function expectToHold(scenario: Scenario, limit = 200_000): Promise<void> {
  const { states, ends, plays, complete, failure } = await explore(
    await prepare(scenario),
    isShort ? shortLimit : limit,
  );
  looked.scenarios += 1;
  looked.states += states;
  looked.ends += ends;
  looked.plays += plays;
  if (failure) expect.fail(told(failure));
  if (!isShort) expect(complete, `there is more to see than ${limit} states`).toBe(true);
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

function told({ what, trace }: Failure): string {
  return `${what}\n  ${trace.join('\n  ')}`;
}
