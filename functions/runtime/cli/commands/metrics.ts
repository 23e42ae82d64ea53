import { InvalidArgumentError, Option, type Command } from 'commander';
import { parseIsoDate } from '../../../../shared/http/dates.ts';
import { metrics, statistics, type Metric, type Statistic } from '../../../../shared/metadata/monitoring/statistics.ts';
import type { Ask, ResultOf } from '../../../admin/commands.ts';
import { family, verb } from '../command.ts';
import { graph } from '../graph.ts';
import type { Report } from '../../command-line/report.ts';
import { sizeText } from '../../command-line/sizes.ts';
import { day, hour, minute } from '../../../../shared/ports/durations.ts';

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
export function metricsFamily(): Command {
  return family('metrics', 'Show the size of buckets over time', [
    verb<ShowOptions>({
      name: 'show',
      does: 'Draw a graph of the size of a bucket',
      operands: [['<bucket>', 'name of the bucket']],
      options: [
        new Option('--metric <name>', 'metric to draw').choices([...metrics]).default('BucketSizeBytes'),
        new Option('--statistic <name>', 'statistic of the samples of a period')
          .choices([...statistics])
          .default('Average'),
        new Option('--last <time>', 'length of the graph, up to --end: 3h, 2d, 4w')
          .default(units.d, '1d')
          .argParser(duration),
        new Option('--start <time>', 'start of the graph, such as 2026-11-20T10:00:00Z').argParser(moment),
        new Option('--end <time>', 'end of the graph').default(undefined, 'now').argParser(moment),
        new Option('--period <time>', 'length of a period: 5m, 1h')
          .default(undefined, 'as fits the graph')
          .argParser(duration),
      ],
      examples: ['metrics show photos', 'metrics show photos --metric NumberOfObjects --last 2w --json'],
      act: (ask, [bucket], options) => show(ask, bucket!, options),
    }),
  ]);
}

async function show(ask: Ask, bucket: string, options: ShowOptions): Promise<Report> {
  const { metric, statistic, last, start, end, period } = options;
  const found = await ask('metrics show', { bucket, metric, statistic, last, start, end, period });
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
function shown({ bucket, metric, statistic, unit, period, current, datapoints }: ResultOf<'metrics show'>): object {
  const point = ({ at, value }: { readonly at: number; readonly value: number }): object => ({
    timestamp: new Date(at).toISOString(),
    value,
  });
  return {
    ...{ bucket, metric, statistic, unit, period: period / 1000 },
    ...{ current: point(current), datapoints: datapoints.map(point) },
  };
}

function duration(text: string): number {
  const [, number, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const time = Number(number) * units[(unit ?? 'm') as keyof typeof units];
  if (!(time > 0))
    throw new InvalidArgumentError('Must be a number followed by m, h, d or w, such as 90m, 3h, 2d or 4w.');
  return time;
}

function moment(text: string): number {
  const time = parseIsoDate(text);
  if (time === undefined) throw new InvalidArgumentError('Must be a time in ISO 8601, such as 2026-11-20T10:00:00Z.');
  return time;
}
