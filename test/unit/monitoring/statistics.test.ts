import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aggregateOf,
  datapoints,
  join,
  readStatistic,
  statistics,
  type Aggregate,
  type Point,
} from '../../../shared/monitoring/statistics.ts';

const values = fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1, maxLength: 50 });
const all = (numbers: readonly number[]): Aggregate => numbers.map(aggregateOf).reduce(join);

describe('an aggregate', () => {
  it('tells what its samples would', () => {
    fc.assert(
      fc.property(values, (numbers) => {
        const sum = numbers.reduce((a, b) => a + b, 0);
        expect(statistics.map((statistic) => readStatistic(all(numbers), statistic))).toEqual([
          sum / numbers.length,
          Math.min(...numbers),
          Math.max(...numbers),
          sum,
          numbers.length,
        ]);
      }),
    );
  });

  it('is the same however its parts are joined', () => {
    fc.assert(
      fc.property(values, values, values, (a, b, c) => {
        expect(join(all(a), join(all(b), all(c)))).toEqual(all([...a, ...b, ...c]));
      }),
    );
  });
});

describe('datapoints', () => {
  const point = (at: number, value: number): Point => ({
    at,
    values: { BucketSizeBytes: aggregateOf(value), NumberOfObjects: aggregateOf(0) },
  });
  const series = { metric: 'BucketSizeBytes', statistic: 'Sum', period: 10, origin: 3 } as const;

  it('begin with their periods, are in order, and leave out what is not there', () => {
    const points = [point(24, 4), point(3, 1), point(12, 2), point(23, 8), point(45, 16)];
    expect(datapoints(points, series)).toEqual([
      { at: 3, value: 3 },
      { at: 23, value: 12 },
      { at: 43, value: 16 },
    ]);
    expect(datapoints([], series)).toEqual([]);
  });

  it('lose no sample and invent none', () => {
    const moments = fc.uniqueArray(fc.integer({ min: 0, max: 10_000 }), { maxLength: 100 });
    fc.assert(
      fc.property(
        moments,
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 0, max: 500 }),
        (times, period, origin) => {
          const points = times.map((at) => point(at, 1));
          const found = datapoints(points, { ...series, statistic: 'SampleCount', period, origin });
          expect(found.reduce((sum, { value }) => sum + value, 0)).toBe(times.length);
          for (const { at, value } of found) {
            expect(Math.abs((at - origin) % period)).toBe(0);
            expect(times.filter((time) => time >= at && time < at + period)).toHaveLength(value);
          }
        },
      ),
    );
  });
});
