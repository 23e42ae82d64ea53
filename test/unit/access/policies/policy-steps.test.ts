import { expect, it } from 'vitest';
import { EventLoopBudget, stepsPerTurn } from '../../../../shared/ports/event-loop.ts';
import type { Facts } from '../../../../shared/access/policies/policy-template.ts';
import { countTurns } from '../../../support/runs/turns.ts';
import { bucket, callers, policyOf, prepared, statement } from './policies.ts';

/** How much work policies can be made to be. In steps, for times depend on the machine. */

const keyCount = 1000;
const keys = Array.from({ length: keyCount }, (_, at) => `${String(at).padStart(4, '0')}${'a'.repeat(1000)}`);

/** In a step. */
const comparisons = 256;

/** Counts what is spent from it, altogether and at once. */
class CountingBudget extends EventLoopBudget {
  taken = 0;
  most = 0;

  override spend(steps: number): Promise<void> | undefined {
    this.taken += steps;
    this.most = Math.max(this.most, steps);
    return super.spend(steps);
  }
}

/** The steps that it takes to judge deletions of some keys in one request. */
async function stepsFor(count: number, statements: readonly object[], conditions: Facts): Promise<number> {
  const budget = new CountingBudget();
  const policy = prepared(policyOf(...statements), callers.bob, budget);
  for (const key of keys.slice(0, count)) await policy.verdict({ action: 'DeleteObject', key, conditions });
  return budget.taken;
}

const known =
  (values: Readonly<Record<string, string>>): Facts =>
  (key) =>
    Object.hasOwn(values, key) ? [values[key]!] : undefined;

const deny = (parts: object): object => statement({ Effect: 'Deny', Action: 's3:DeleteObject', ...parts });
const when = (operator: string, key: string, values: unknown): object =>
  deny({ Condition: { [operator]: { [key]: values } } });
const repeated = 'a'.repeat(6_000);
/** Patterns of 18,000 characters together, which a text of that letter almost matches. */
const long = (letter = 'a'): string[] => ['X', 'Y', 'Z'].map((end) => `*${letter.repeat(6_000)}${end}*`);
const short = Array.from({ length: 2_500 }, (_, at) => `*a?${String.fromCodePoint(0x4e00 + at)}*`);
const agent = { 'aws:useragent': `${repeated}aaaa` };

it.each<[string, readonly object[], Readonly<Record<string, string>>]>([
  ['long patterns for a long header', [when('StringLike', 'aws:UserAgent', long())], agent],
  ['many short ones', [when('StringLike', 'aws:UserAgent', short)], agent],
  ['one in each of many statements', short.slice(0, 150).map((one) => when('StringLike', 'aws:UserAgent', one)), agent],
  [
    'ARNs',
    [when('ArnLike', 'aws:UserAgent', [`arn:aws:s3:::${long()[0]!}`])],
    { 'aws:useragent': `arn:aws:s3:::${repeated}aaaa` },
  ],
  ['what the object is to be', [when('StringLike', 's3:x-amz-acl', long())], { 's3:x-amz-acl': `${repeated}aaaa` }],
  [
    'variables',
    [when('StringLike', 'aws:UserAgent', ['*${aws:referer}X*', '*${aws:referer}Y*'])],
    { ...agent, 'aws:referer': 'a'.repeat(3_000) },
  ],
  [
    'variables of resources',
    [deny({ Resource: `arn:aws:s3:::${bucket}/*\${aws:referer}X*` })],
    { 'aws:referer': 'a'.repeat(9_000) },
  ],
])('a thousand keys take little more than one: %s', async (_, statements, facts) => {
  const one = await stepsFor(1, statements, known(facts));
  const all = await stepsFor(keyCount, statements, known(facts));
  // The remaining work for each key is a test of each statement, and a match of the beginnings of resources.
  expect((all - one) / keyCount).toBeLessThan((statements.length * 450 + 7_000) / comparisons);
  expect(one).toBeLessThan(((20 * 1024 * 8 * 1024) / 32 + 500_000) / comparisons);
});

it.each<[string, readonly string[]]>([
  ['long', ['X', 'Y', 'Z'].map((end) => `arn:aws:s3:::${bucket}/*${'a'.repeat(900)}${end}*`)],
  ['many', Array.from({ length: 700 }, (_, at) => `arn:aws:s3:::${bucket}/*a?${String.fromCodePoint(0x4e00 + at)}*`)],
])(
  'resources that are looked for in each key take a sixtieth of all pairs of characters, and some for each of the key: %s',
  async (_, Resource) => {
    const characters = Resource.reduce((sum, one) => sum + one.length - 'arn:aws:s3:::'.length, 0);
    const steps = (await stepsFor(100, [deny({ Resource })], known({}))) - (100 * 7_000) / comparisons;
    expect(steps / 100).toBeLessThan(
      ((characters / 60 + 64) * (bucket.length + 1 + keys[0]!.length) * 1.2 + 3 * characters + 2 ** 15) / comparisons,
    );
  },
);

it('follows values that differ from key to key', async () => {
  const policy = prepared(policyOf(when('StringLike', 's3:ExistingObjectTag/Team', '*-red')), callers.bob);
  const of = (team: string | undefined): Promise<string> =>
    policy.verdict({ action: 'DeleteObject', key: 'k', conditions: () => (team === undefined ? undefined : [team]) });
  const teams = ['a-red', 'a-blue', 'b-red', undefined, 'b-red', 'b-blue'];
  const verdicts: string[] = [];
  for (const team of teams) verdicts.push(await of(team));
  expect(verdicts).toEqual(['deny', 'none', 'deny', 'none', 'deny', 'none']);
});

it('follows variables that differ from key to key', async () => {
  const Resource = `arn:aws:s3:::${bucket}/*\${s3:ExistingObjectTag/Team}*`;
  const policy = prepared(policyOf(deny({ Resource })), callers.bob);
  const of = (key: string, team: string): Promise<string> =>
    policy.verdict({ action: 'DeleteObject', key, conditions: () => [team] });
  expect(await of('red/1', 'red')).toBe('deny');
  expect(await of('red/1', 'blue')).toBe('none');
  expect(await of('blue/1', 'blue')).toBe('deny');
  const longest = 'x'.repeat(5_000);
  expect(await of(longest, longest)).toBe('deny');
  expect(await of('blue/1', longest)).toBe('none');
});

it('stops for others in between, however long one pattern and one text are', async () => {
  const budget = new CountingBudget();
  const policy = prepared(
    policyOf(when('StringLike', 'aws:UserAgent', [...long(), ...short.slice(0, 10)])),
    callers.bob,
    budget,
  );
  expect(await policy.verdict({ action: 'DeleteObject', key: 'k', conditions: known(agent) })).toBe('none');
  expect(budget.most).toBeLessThan(stepsPerTurn);
});

it('lets the event loop turn', async () => {
  const { result: taken, turns } = await countTurns(() =>
    stepsFor(keyCount, [when('StringLike', 'aws:UserAgent', long())], known(agent)),
  );
  expect(taken).toBeGreaterThan(4 * stepsPerTurn);
  // A piece of work that begins in a turn ends in it: of some sixteen steps.
  expect(turns).toBeGreaterThanOrEqual(Math.floor(taken / (stepsPerTurn + 17)) - 1);
});
