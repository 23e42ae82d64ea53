import type { Counters } from '../storage/quotas/usage-rows.ts';

/** The metrics of a bucket, with their units: the bytes of all versions, and the versions that are not delete markers. */
export const metricUnits = { BucketSizeBytes: 'Bytes', NumberOfObjects: 'Count' } as const;

export type Metric = keyof typeof metricUnits;

export const metrics = Object.keys(metricUnits) as readonly Metric[];

/** The ways to reduce the samples of a period to one number. */
export const statistics = ['Average', 'Minimum', 'Maximum', 'Sum', 'SampleCount'] as const;

export type Statistic = (typeof statistics)[number];

/** The aggregate of an interval's samples: enough for every statistic, however intervals are joined. */
export interface Aggregate {
  readonly sum: number;
  readonly minimum: number;
  readonly maximum: number;
  /** At least 1. */
  readonly count: number;
}

/** One value of each metric. */
export type Sample = Readonly<Record<Metric, number>>;

/** Returns the values of the metrics of a bucket that holds this. */
export function sampleOf({ bytesOfVersions, objects }: Counters): Sample {
  return { BucketSizeBytes: bytesOfVersions, NumberOfObjects: objects };
}

/** The samples of an interval that begins at `at` (milliseconds since the epoch). */
export interface Point {
  readonly at: number;
  readonly values: Readonly<Record<Metric, Aggregate>>;
}

/** One value in a metric's series. */
export interface Datapoint {
  /** The start of its period, in milliseconds since the epoch. */
  readonly at: number;
  readonly value: number;
}

/** Returns the aggregate of a single sample. */
export function aggregateOf(value: number): Aggregate {
  return { sum: value, minimum: value, maximum: value, count: 1 };
}

/** Returns the aggregate of two intervals together. */
export function join(one: Aggregate, other: Aggregate): Aggregate {
  return {
    sum: one.sum + other.sum,
    minimum: Math.min(one.minimum, other.minimum),
    maximum: Math.max(one.maximum, other.maximum),
    count: one.count + other.count,
  };
}

const readings: Readonly<Record<Statistic, (aggregate: Aggregate) => number>> = {
  Average: ({ sum, count }) => sum / count,
  Minimum: ({ minimum }) => minimum,
  Maximum: ({ maximum }) => maximum,
  Sum: ({ sum }) => sum,
  SampleCount: ({ count }) => count,
};

/** Returns a statistic of an aggregate. */
export function readStatistic(aggregate: Aggregate, statistic: Statistic): number {
  return readings[statistic](aggregate);
}

/** A query for a metric's history. */
export interface Series {
  readonly metric: Metric;
  readonly statistic: Statistic;
  /** Milliseconds. */
  readonly period: number;
  /** The start of the first period; the others follow without gaps. */
  readonly origin: number;
}

/** Returns the datapoints of a series in order of time, none for periods without samples. */
export function datapoints(points: Iterable<Point>, { metric, statistic, period, origin }: Series): Datapoint[] {
  const periods = new Map<number, Aggregate>();
  for (const { at, values } of points) {
    const number = Math.floor((at - origin) / period);
    const before = periods.get(number);
    periods.set(number, before === undefined ? values[metric] : join(before, values[metric]));
  }
  return [...periods]
    .sort(([a], [b]) => a - b)
    .map(([number, aggregate]) => ({ at: origin + number * period, value: readStatistic(aggregate, statistic) }));
}
