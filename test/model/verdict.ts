import { expect } from 'vitest';
import { isShort } from '../support/runs/runs.ts';
import { prepare, type Scenario } from './scenario.ts';
import { explore, type Failure } from './scheduler.ts';

/** Whether to run scenarios that take minutes, too. */
export const isLong = process.env['TEST_LONG'] !== undefined;

/** The number of states of a scenario that the short form explores; the full form explores all. */
const shortLimit = 80;

/** The totals of all explorations of this process. */
export const looked = { scenarios: 0, states: 0, ends: 0, plays: 0 };

/** Expects that no schedule of the scenario violates the specification. */
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

/** Expects that some schedule of the scenario fails in this way, which shows that the removed rule is needed. */
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
