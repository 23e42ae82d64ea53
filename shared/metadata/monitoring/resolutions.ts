import { day, hour, minute } from '../../ports/durations.ts';

/** How finely a stretch of history is kept, and for how long. All times in milliseconds. */
export interface Resolution {
  /** The first segment of its items' sort keys. */
  readonly name: string;
  /** The time that one point stands for. */
  readonly step: number;
  /** The time that the points of one item stand for. */
  readonly span: number;
  readonly kept: number;
}

/** The time between two samples, and what every period is a multiple of. */
export const samplingTime = 5 * minute;

/** Samples as they were taken. Four hours of them are an item below 1 KB, which is what DynamoDB writes at once. */
export const samples: Resolution = { name: '5m', step: samplingTime, span: 4 * hour, kept: 63 * day };
export const hours: Resolution = { name: '1h', step: hour, span: day, kept: 455 * day };
export const days: Resolution = { name: '1d', step: day, span: 12 * day, kept: 5 * 365 * day };

/** From the finest to the coarsest; the step of each is a multiple of the one before, and so is its span. */
export const resolutions: readonly Resolution[] = [samples, hours, days];

/**
 * The resolution from which a series of this period is read: the coarsest that it is a multiple of. It gives the same numbers
 * as every finer one, from fewer items, and reaches back furthest.
 */
export function resolutionFor(period: number): Resolution {
  return resolutions.findLast(({ step }) => period % step === 0) ?? samples;
}

/** When the stretch of this length begins that a moment lies in. */
export function beginningOf(moment: number, length: number): number {
  return Math.floor(moment / length) * length;
}
