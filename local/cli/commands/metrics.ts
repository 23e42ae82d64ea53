import type { Command } from 'commander';
import { parseIsoDate } from '../../../shared/http/fields/dates.ts';
import {
  metrics,
  statistics,
  type Metric,
  type Statistic,
  datapoints,
  metricUnits,
  sampleOf,
  type Point,
} from '../../../shared/monitoring/statistics.ts';
import { family, verb, type Named } from '../command.ts';
import * as operand from '../operands.ts';
import { graph } from '../graph.ts';
import type { Report } from '../../../shared/command-line/report.ts';
import { option } from '../../../shared/command-line/option.ts';
import { read } from '../../../shared/command-line/option-values.ts';
import { sizeText } from '../../../shared/command-line/sizes.ts';
import { day, hour, minute } from '../../../shared/ports/durations.ts';
import { resolutionFor, samplingTime } from '../../../shared/monitoring/resolutions.ts';
import { argument, command, optional, Refusal, type Ask, type ResultOf } from '../../../functions/admin/command.ts';
import { result } from '../../../functions/admin/results.ts';

const maxDatapoints = 1440;
/** The maximum width of a graph in columns, unless a period is given. */
const columns = 72;
/** Periods to choose from if none is given, in milliseconds. */
const periods = [1, 3, 6, 12, 36, 72, 144, 288, 288 * 7, 288 * 28].map((slots) => slots * samplingTime);

const value = result.object({ at: result.time, value: result.number });

export const metricsCommands = {
  /** Times are milliseconds: from `start`, or `last` before `end`, to `end`. */
  show: command(
    'metrics show',
    'read',
    {
      ...{ bucket: argument.text, metric: argument.text, statistic: argument.text },
      ...{
        last: argument.number,
        start: optional(argument.number),
        end: optional(argument.number),
        period: optional(argument.number),
      },
    },
    result.object({
      ...{ bucket: result.text, metric: result.enum(metrics), statistic: result.enum(statistics) },
      ...{ unit: result.enum(['Bytes', 'Count']), start: result.time, end: result.time, period: result.count },
      ...{ current: value, datapoints: result.list(value), isMonitored: result.flag },
    }),
    async ({ buckets, monitoring, usage, clock }, { last, ...given }) => {
      const metric = oneOf('metric', metrics, given.metric);
      const statistic = oneOf('statistic', statistics, given.statistic);
      const now = clock.now();
      const { start, end, period } = stretch({ ...given, last, now });
      const bucket = await buckets.load(given.bucket);
      const current = sampleOf(await usage.of(bucket.id));
      const points: Point[] = [];
      const until = Math.min(end, now + 1);
      if (start < until) {
        const samples = monitoring.samples.read(bucket.id, resolutionFor(period), start, until);
        for await (const point of samples) points.push(point);
      }
      return {
        ...{ bucket: bucket.name, metric, statistic, unit: metricUnits[metric], start, end, period },
        current: { at: now, value: current[metric] },
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

const units = { m: minute, h: hour, d: day, w: 7 * day } as const;

/** Returns `stillage metrics`. */
export function commandLine(named: Named): Command {
  const duration = read((text, refuse) => {
    const [, number, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
    const time = Number(number) * units[(unit ?? 'm') as keyof typeof units];
    return time > 0 ? time : refuse('Must be a number followed by m, h, d or w, such as 90m, 3h, 2d or 4w.');
  });
  const moment = read(
    (text, refuse) => parseIsoDate(text) ?? refuse('Must be a time in ISO 8601, such as 2026-11-20T10:00:00Z.'),
  );
  return family(named, [
    verb<ShowOptions>({
      name: 'show',
      does: 'Draw a graph of the size of a bucket',
      operands: [operand.bucket],
      options: [
        option('--metric <name>', 'metric to draw: the bytes of all versions, or their number')
          .choices([...metrics])
          .default('BucketSizeBytes'),
        option('--statistic <name>', 'statistic of the samples of a period')
          .choices([...statistics])
          .default('Average'),
        option('--last <time>', 'length of the graph, up to --end: 3h, 2d, 4w', duration).default(units.d, '1d'),
        option('--start <time>', 'start of the graph, such as 2026-11-20T10:00:00Z', moment),
        option('--end <time>', 'end of the graph', moment).default(undefined, 'now'),
        option('--period <time>', 'length of a period: 5m, 1h', duration).default(undefined, 'as fits the graph'),
      ],
      examples: ['metrics show photos', 'metrics show photos --metric NumberOfObjects --last 2w --json'],
      act: (ask, [bucket], options) => show(ask, bucket!, options),
    }),
  ]);
}

async function show(ask: Ask, bucket: string, options: ShowOptions): Promise<Report> {
  const { metric, statistic, last, start, end, period } = options;
  const found = await ask(metricsCommands.show, { bucket, metric, statistic, last, start, end, period });
  const label = (value: number): string =>
    metric === 'BucketSizeBytes' && statistic !== 'SampleCount' ? sizeText(value) : value.toLocaleString('en');
  const minutes = found.period / minute;
  const heading = `${found.bucket}: ${metric}, ${statistic} of ${minutes} minutes; now ${label(found.current.value)}`;
  const hint = found.isMonitored ? '' : `; to collect them: stillage monitoring enable ${found.bucket}`;
  const drawn =
    found.datapoints.length === 0 ? `no samples in this time${hint}` : graph(found.datapoints, found, label);
  return { data: shown(found), text: `${heading}\n${drawn}` };
}

/** Returns metrics as `--json` prints them: times in ISO 8601, the period in seconds. */
function shown({
  bucket,
  metric,
  statistic,
  unit,
  period,
  current,
  datapoints,
}: ResultOf<(typeof metricsCommands)['show']>): object {
  const point = ({ at, value }: { readonly at: number; readonly value: number }): object => ({
    timestamp: new Date(at).toISOString(),
    value,
  });
  return {
    ...{ bucket, metric, statistic, unit, period: period / 1000 },
    ...{ current: point(current), datapoints: datapoints.map(point) },
  };
}
