/** What is measured of a bucket, and the unit of each measure. */
export const metricUnits = { BucketSizeBytes: 'Bytes', NumberOfObjects: 'Count' } as const;

export type Metric = keyof typeof metricUnits;

export const metrics = Object.keys(metricUnits) as readonly Metric[];

/** How the samples of a period become one number. */
export const statistics = ['Average', 'Minimum', 'Maximum', 'Sum', 'SampleCount'] as const;

export type Statistic = (typeof statistics)[number];

/** What is known of the samples of a stretch of time: enough for every statistic, however stretches are joined. */
export interface Aggregate {
  readonly sum: number;
  readonly minimum: number;
  readonly maximum: number;
  /** At least 1. */
  readonly count: number;
}

/** One value of each metric. */
export type Sample = Readonly<Record<Metric, number>>;

/** The samples of a stretch of time that begins at `at` (milliseconds since the epoch). */
export interface Point {
  readonly at: number;
  readonly values: Readonly<Record<Metric, Aggregate>>;
}

/** One number of a metric's history. */
export interface Datapoint {
  /** When its period begins, in milliseconds since the epoch. */
  readonly at: number;
  readonly value: number;
}

/** A single sample. */
export function aggregateOf(value: number): Aggregate {
  return { sum: value, minimum: value, maximum: value, count: 1 };
}

/** Two stretches of time as one. */
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

/** A statistic of a stretch of time. */
export function readStatistic(aggregate: Aggregate, statistic: Statistic): number {
  return readings[statistic](aggregate);
}

/** A question about a metric's history. */
export interface Series {
  readonly metric: Metric;
  readonly statistic: Statistic;
  /** Milliseconds. */
  readonly period: number;
  /** Where the first period begins; the others follow without gaps. */
  readonly origin: number;
}

/** The datapoints of a series in order of time. Periods without samples have none. */
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
