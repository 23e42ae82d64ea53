import { resolutionFor, samplingTime } from '../../shared/metadata/monitoring/resolutions.ts';
import {
  datapoints,
  metrics,
  metricUnits,
  statistics,
  type Point,
} from '../../shared/metadata/monitoring/statistics.ts';
import { argument, command, optional, Refusal } from './command.ts';

const maxDatapoints = 1440;
/** The maximum width of a graph in columns, unless a period is given. */
const columns = 72;
/** Periods to choose from if none is given, in milliseconds. */
const periods = [1, 3, 6, 12, 36, 72, 144, 288, 288 * 7, 288 * 28].map((slots) => slots * samplingTime);

export const metricsCommands = {
  /** Times are milliseconds: from `start`, or `last` before `end`, to `end`. */
  'metrics show': command(
    {
      ...{ bucket: argument.text, metric: argument.text, statistic: argument.text },
      ...{
        last: argument.number,
        start: optional(argument.number),
        end: optional(argument.number),
        period: optional(argument.number),
      },
    },
    async ({ buckets, monitoring, usage, clock }, { last, ...given }) => {
      const metric = oneOf('metric', metrics, given.metric);
      const statistic = oneOf('statistic', statistics, given.statistic);
      const now = clock.now();
      const { start, end, period } = stretch({ ...given, last, now });
      const bucket = await buckets.load(given.bucket);
      const { bytes, objects } = await usage.of(bucket.id);
      const points: Point[] = [];
      const until = Math.min(end, now + 1);
      if (start < until) {
        const samples = monitoring.samples.read(bucket.id, resolutionFor(period), start, until);
        for await (const point of samples) points.push(point);
      }
      return {
        ...{ bucket: bucket.name, metric, statistic, unit: metricUnits[metric], start, end, period },
        current: { at: now, value: { BucketSizeBytes: bytes, NumberOfObjects: objects }[metric] },
        datapoints: datapoints(points, { metric, statistic, period, origin: 0 }),
        isMonitored: await monitoring.buckets.isOn(bucket.id),
      };
    },
  ),
};

interface Asked {
  readonly now: number;
  readonly last: number;
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  readonly period?: number | undefined;
}

/** @throws Refusal */
function stretch({ now, last, start, end = now, period }: Asked): { start: number; end: number; period: number } {
  const from = start ?? end - last;
  if (from >= end) throw new Refusal('start must be before end');
  const one = period ?? periods.find((fitting) => (end - from) / fitting <= columns) ?? periods.at(-1)!;
  if (one === 0 || one % samplingTime !== 0) throw new Refusal('period must be a multiple of 5m');
  if ((end - from) / one > maxDatapoints)
    throw new Refusal(`the time from start to end has more than ${maxDatapoints} periods: choose a longer period`);
  return { start: Math.max(0, Math.floor(from / one) * one), end, period: one };
}

/** @throws Refusal */
function oneOf<Word extends string>(what: string, words: readonly Word[], asked: string): Word {
  const found = words.find((word) => word === asked);
  if (found === undefined)
    throw new Refusal(`unknown ${what} ${JSON.stringify(asked)}; it must be one of ${words.join(', ')}`);
  return found;
}
