import { describe, expect, it } from 'vitest';
import { median, medianOfKnown, percentile, ratio } from '../../bench/requests/statistics.ts';

const hundred = Array.from({ length: 100 }, (_, at) => 100 - at);

describe('the percentiles of a benchmark', () => {
  it('are those of the sorted numbers', () => {
    expect(percentile(hundred, 0.5)).toBe(51);
    expect(percentile(hundred, 0.99)).toBe(100);
    expect(percentile([10, 9], 0.99)).toBe(10);
    expect(percentile([7], 0)).toBe(7);
    expect(median([3, 1, 2])).toBe(2);
  });

  it('leave their numbers as they are, and refuse none at all', () => {
    const numbers = [3, 1, 2];
    percentile(numbers, 0.5);
    expect(numbers).toEqual([3, 1, 2]);
    expect(() => percentile([], 0.5)).toThrow(RangeError);
  });

  it('pass over what is unknown', () => {
    expect(medianOfKnown([undefined, 5, undefined])).toBe(5);
    expect(medianOfKnown([undefined])).toBeUndefined();
  });
});

describe('the ratio of two measurements', () => {
  it('is unknown if one of them is, or nothing to divide by', () => {
    expect(ratio(6, 4)).toBe(1.5);
    expect(ratio(undefined, 4)).toBeUndefined();
    expect(ratio(6, undefined)).toBeUndefined();
    expect(ratio(6, 0)).toBeUndefined();
  });
});
