import { InvalidArgumentError, Option, type Command } from 'commander';
import { resolutionFor, samplingTime } from '../../../../shared/metadata/monitoring/resolutions.ts';
import {
  datapoints,
  metrics,
  metricUnits,
  statistics,
  type Metric,
  type Point,
  type Statistic,
} from '../../../../shared/metadata/monitoring/statistics.ts';
import { parseIsoDate } from '../../../../shared/http/dates.ts';
import { OperatorError } from '../../operator-error.ts';
import { family, verb, type Rooms } from './command.ts';
import { graph } from './graph.ts';
import { withBucket } from './monitoring-rooms.ts';
import type { Report } from './report.ts';
import { sizeText } from './sizes.ts';

interface ShowOptions {
  readonly metric: Metric;
  readonly statistic: Statistic;
  /** Milliseconds. */
  readonly last: number;
  readonly start?: number;
  readonly end?: number;
  /** Milliseconds. */
  readonly period?: number;
}

const minute = 60 * 1000;
const units = { m: minute, h: 60 * minute, d: 24 * 60 * minute, w: 7 * 24 * 60 * minute } as const;
const mostDatapoints = 1440;
/** As wide as a graph is drawn unless a period was asked for. */
const columns = 72;
/** Periods that a graph may have by itself. */
const periods = [1, 3, 6, 12, 36, 72, 144, 288, 288 * 7, 288 * 28].map((slots) => slots * samplingTime);

/** `stillage metrics` */
export function metricsFamily(): Command {
  return family('metrics', 'the size of buckets, now and before', [
    verb<ShowOptions>({
      name: 'show',
      does: 'draw the history of a bucket',
      operands: [['<bucket>', 'name of the bucket']],
      options: [
        new Option('--metric <name>', 'what is drawn').choices([...metrics]).default('BucketSizeBytes'),
        new Option('--statistic <name>', 'how samples become one number').choices([...statistics]).default('Average'),
        new Option('--last <time>', 'how far back: 3h, 2d, 4w').default(units.d, '1d').argParser(duration),
        new Option('--start <time>', 'from this time on, such as 2026-11-20T10:00:00Z').argParser(moment),
        new Option('--end <time>', 'until this time (default: now)').argParser(moment),
        new Option('--period <time>', 'the time that one number stands for: 5m, 1h (default: what fits)').argParser(
          duration,
        ),
      ],
      examples: ['metrics show photos', 'metrics show photos --metric NumberOfObjects --last 2w --json'],
      act: (rooms, [name], options) => show(rooms, name!, options),
    }),
  ]);
}

async function show(rooms: Rooms, name: string, options: ShowOptions): Promise<Report> {
  const { metric, statistic, last } = options;
  const now = rooms.clock.now();
  const end = options.end ?? now;
  const from = options.start ?? end - last;
  if (from >= end) throw new OperatorError('--start must be before --end');
  const period = options.period ?? periods.find((one) => (end - from) / one <= columns) ?? periods.at(-1)!;
  if (period % samplingTime !== 0) throw new OperatorError('--period must be a multiple of 5m');
  if ((end - from) / period > mostDatapoints) {
    throw new OperatorError(`--period: these are more than ${mostDatapoints} periods`);
  }
  const start = Math.max(0, Math.floor(from / period) * period);
  const { bucket, monitoring, usage } = await withBucket(rooms, name);
  const { bytes, objects } = await usage.of(bucket.id);
  const current = { BucketSizeBytes: bytes, NumberOfObjects: objects }[metric];
  const points: Point[] = [];
  const until = Math.min(end, now + 1);
  if (start < until) {
    for await (const point of monitoring.samples.read(bucket.id, resolutionFor(period), start, until))
      points.push(point);
  }
  const found = datapoints(points, { metric, statistic, period, origin: 0 });
  const label = (value: number): string =>
    metric === 'BucketSizeBytes' && statistic !== 'SampleCount' ? sizeText(value) : value.toLocaleString('en');
  const head = `${bucket.name}: ${metric}, ${statistic} of ${period / minute} minutes; now ${label(current)}`;
  const hint = (await monitoring.buckets.isOn(bucket.id))
    ? ''
    : `; turn it on: stillage monitoring enable ${bucket.name}`;
  const nothing = `no samples of this time${hint}`;
  return {
    data: {
      bucket: bucket.name,
      metric,
      statistic,
      unit: metricUnits[metric],
      period: period / 1000,
      current: { timestamp: new Date(now).toISOString(), value: current },
      datapoints: found.map(({ at, value }) => ({ timestamp: new Date(at).toISOString(), value })),
    },
    text: `${head}\n${found.length === 0 ? nothing : graph(found, { start, end, period }, label)}`,
  };
}

function duration(text: string): number {
  const [, number, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const time = Number(number) * units[(unit ?? 'm') as keyof typeof units];
  if (!(time > 0)) throw new InvalidArgumentError('A time is a number with m, h, d or w: 90m, 3h, 2d, 4w.');
  return time;
}

function moment(text: string): number {
  const time = parseIsoDate(text);
  if (time === undefined) throw new InvalidArgumentError('A time such as 2026-11-20T10:00:00Z.');
  return time;
}
