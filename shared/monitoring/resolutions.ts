import { day, hour, minute } from '../ports/durations.ts';

/** A resolution at which metrics are kept, and its retention. All times are in milliseconds. */
export interface Resolution {
  /** The first segment of its items' sort keys. */
  readonly name: string;
  /** The length of time that one point represents. */
  readonly step: number;
  /** The length of time that one item covers. */
  readonly span: number;
  readonly kept: number;
}

/** The interval between two samples; every period is a multiple of it. */
export const samplingTime = 5 * minute;

/** Samples as taken. Four hours of them are an item below 1 KB, the size of one DynamoDB write unit. */
export const samples: Resolution = { name: '5m', step: samplingTime, span: 4 * hour, kept: 63 * day };
export const hours: Resolution = { name: '1h', step: hour, span: day, kept: 455 * day };
export const days: Resolution = { name: '1d', step: day, span: 12 * day, kept: 5 * 365 * day };

/** From finest to coarsest; each step, and each span, is a multiple of the one before. */
export const resolutions: readonly Resolution[] = [samples, hours, days];

/**
 * Returns the coarsest resolution whose step divides a period. It gives the same numbers as every finer one, from fewer
 * items, and reaches back furthest.
 */
export function resolutionFor(period: number): Resolution {
  return resolutions.findLast(({ step }) => period % step === 0) ?? samples;
}

/** Returns the start of the interval of this length that contains a moment. */
export function beginningOf(moment: number, length: number): number {
  return Math.floor(moment / length) * length;
}
