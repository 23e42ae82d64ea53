import { beforeAll, describe, expect, it } from 'vitest';
import { budget, measureTrips, type MeasuredTripsOfAll } from './round-trips.ts';

/** What the budget is about. */
const budgeted: readonly (readonly [operation: string, variant: string | undefined, most: number])[] = [
  ['GetObject', undefined, budget.get],
  ['HeadObject', undefined, budget.get],
  ['PutObject', undefined, budget.put],
  ['PutObject', 'over an object', budget.put],
  ['PutObject', 'over a version', budget.versionedPut],
  ['DeleteObject', undefined, budget.delete],
  ['ListObjectsV2', '1,000 keys', budget.list],
  ['ListObjectsV2', 'nothing', budget.list],
];

let measured: MeasuredTripsOfAll;
beforeAll(async () => {
  measured = await measureTrips(({ operation, variant }) =>
    budgeted.some(([name, special]) => name === operation && special === variant),
  );
}, 600_000);

describe('the round trips to the database', () => {
  it.each(budgeted)('of %s (%s) are %s at most', (operation, variant, most) => {
    const found = measured.operations.find(
      ({ scenario }) => scenario.operation === operation && scenario.variant === variant,
    )!;
    expect(found.trips).toBeGreaterThan(0);
    expect(found.trips).toBeLessThanOrEqual(most);
  });

  it('of GetObject are one whoever asks, once they are known', () => {
    expect(measured.callers.map(({ who, next }) => [who, next])).toEqual(
      measured.callers.map(({ who }) => [who, budget.get]),
    );
  });
});
