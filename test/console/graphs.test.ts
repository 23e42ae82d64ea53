import { describe, expect, it } from 'vitest';
import { isOriginPattern } from '../../console/pages/settings/origin-pattern.ts';
import { periodFor } from '../../console/pages/settings/periods.ts';
import { linePaths, ticksOf, timeTicksOf } from '../../console/ui/chart-geometry.ts';

const day = 86_400_000;

describe('the graphs of monitoring', () => {
  it('have round numbers on the scale, up to at least the largest value', () => {
    // Objects are counted in whole numbers.
    expect(ticksOf(10, 1000)).toEqual([0, 3, 6, 9, 12]);
    expect(ticksOf(2_000, 1000)).toEqual([0, 500, 1_000, 1_500, 2_000]);
    expect(ticksOf(3.5 * 1024 ** 3, 1024)).toEqual([0, 1, 2, 3, 4].map((count) => count * 1024 ** 3));
    for (const most of [1, 7, 999, 1_001, 123_456, 5e12]) {
      for (const base of [1000, 1024] as const) {
        const ticks = ticksOf(most, base);
        expect(ticks.at(-1)).toBeGreaterThanOrEqual(most);
        expect(ticks.length).toBeLessThanOrEqual(6);
      }
    }
  });

  it('have no more times on the axis than fit', () => {
    for (const days of [0.1, 1, 7, 30, 365, 1_800]) {
      const end = Date.UTC(2026, 10, 22, 14);
      const ticks = timeTicksOf(end - days * day, end, 6);
      expect(ticks.length).toBeGreaterThan(0);
      expect(ticks.length).toBeLessThanOrEqual(7);
    }
  });

  it('join no points across a gap', () => {
    const points = [0, 1, 2, 10, 11, 20].map((at) => ({ at, value: at }));
    const runs = linePaths(
      points,
      1.5,
      (at) => at,
      (value) => value,
    );
    expect(runs.map(({ line }) => line.split('M').length - 1 + line.split('L').length - 1)).toEqual([3, 2, 1]);
  });

  it('ask for samples that the service still keeps, and at most 1,440', () => {
    const now = Date.UTC(2026, 10, 22);
    for (const [age, length] of [
      [0.1, 0.1],
      [64, 1],
      [456, 2],
      [1_825, 1_825],
    ] as const) {
      const range = { start: now - age * day, end: now - age * day + length * day };
      const period = periodFor(range, now);
      expect(period % 300).toBe(0);
      expect((length * day) / 1_000 / period).toBeLessThanOrEqual(1_440);
      if (age > 63) expect(period % 3_600).toBe(0);
      if (age > 455) expect(period % 86_400).toBe(0);
    }
  });
});

describe('an origin of a CORS rule', () => {
  it.each(['*', 'https://a.example', 'http://a.example:8080', 'https://*.example.com', 'capacitor://localhost'])(
    'is %s',
    (origin) => expect(isOriginPattern(origin)).toBe(true),
  );
  it.each(['', 'a.example', '//a.example', 'https://', 'https://a/b', 'https://a b', 'https://*.*.a', 'https://u@a'])(
    'is not %j',
    (origin) => expect(isOriginPattern(origin)).toBe(false),
  );
});
