/** The time range shown, in milliseconds since the epoch. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

const hour = 3_600_000;
const day = 24 * hour;

/** The preset periods, in milliseconds. */
export const presets = { hours3: 3 * hour, day: day, week: 7 * day, month: 30 * day, year: 365 * day } as const;
export type Preset = keyof typeof presets;

/** The lengths of a datapoint's period, in seconds. */
const periods = [300, 900, 3_600, 21_600, 86_400, 7 * 86_400, 30 * 86_400] as const;

/** The maximum number of datapoints, as a graph has no more pixels. The service returns at most 1,440. */
const maxDatapoints = 400;

/**
 * Returns the length of a datapoint's period for a range, in seconds: the shortest that gives no more points than a graph can show, from
 * samples that the service still keeps. Those of five minutes are kept for 63 days, those of an hour for 455: docs/monitoring.md.
 */
export function periodFor({ start, end }: Range, now: number): number {
  const age = now - start;
  const shortest = age > 455 * day ? 86_400 : age > 63 * day ? 3_600 : 300;
  const span = (end - start) / 1_000;
  const fits = (period: number): boolean => period >= shortest && span / period <= maxDatapoints;
  return periods.find(fits) ?? Math.ceil(span / maxDatapoints / 86_400) * 86_400;
}
