import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { enabledRules } from '../../../shared/lifecycle/lifecycle-rules.ts';
import { brokenBounds } from '../../../shared/lifecycle/rechecks.ts';
import type { Recheck } from '../../../shared/storage/table/rechecks.ts';
import { runs } from '../../support/runs/runs.ts';
import { day } from './lifecycle-deps.ts';

const rules = enabledRules({
  rules: [
    { id: 'ten', status: 'Enabled', scope: { form: 'filter', prefix: 'b/' }, expiration: { days: 10 } },
    { id: 'five', status: 'Enabled', scope: { form: 'filter', prefix: 'b/b' }, expiration: { days: 5 } },
    { id: 'others', status: 'Enabled', scope: { form: 'filter', prefix: '' }, noncurrent: { days: 1 } },
  ],
});
const letter = fc.constantFrom('a', 'b', 'c', 'd');
const key = fc.tuple(fc.constantFrom('a', 'b/', 'c'), letter).map((parts) => parts.join(''));
const end = fc.option(key, { nil: undefined });
const bound = fc
  .record({ prefix: fc.constantFrom('', 'b/'), from: end, until: end, days: fc.integer({ min: 1, max: 30 }) })
  .filter(({ from, until }) => from === undefined || until === undefined || from < until)
  .filter(({ prefix, from, until }) => (from ?? prefix).startsWith(prefix) && (until ?? prefix).startsWith(prefix))
  .map(({ days, ...range }, at = 0) => ({
    ...range,
    id: String(at),
    recordedAt: 0,
    kind: 'keys' as const,
    keys: 1,
    revision: 'now',
    nothingDueBefore: days * day,
  }));
const recheck = fc
  .record({ key, days: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }) })
  .map(({ days, ...rest }): Recheck => ({
    ...rest,
    id: 'recheck',
    at: 0,
    lastModified: days === undefined ? undefined : days * day,
  }));

/** When the rules are due for an object of this date, stated simply. */
const dueAt = ({ key: name, lastModified }: Recheck): number => {
  if (lastModified === undefined) return 0;
  if (name.startsWith('b/b')) return lastModified + 5 * day;
  return name.startsWith('b/') ? lastModified + 10 * day : Infinity;
};

describe('the bounds that rechecks break', () => {
  it('are those of ranges in which one of them is due earlier', () => {
    fc.assert(
      fc.property(fc.array(bound, { maxLength: 8 }), fc.array(recheck, { maxLength: 8 }), (bounds, rechecks) => {
        const expected = bounds.filter(({ prefix, from, until, nothingDueBefore }) =>
          rechecks.some(
            (one) =>
              one.key.startsWith(prefix) &&
              (from === undefined || one.key >= from) &&
              (until === undefined || one.key < until) &&
              dueAt(one) < nothingDueBefore,
          ),
        );
        expect([...brokenBounds(bounds, rechecks, rules)]).toEqual(expected);
      }),
      { numRuns: runs(2000) },
    );
  });
});
