import { metricData } from '../../shared/documents/monitoring.ts';
import { invalidArgument } from '../../shared/errors/s3-error.ts';
import { parseIsoDate } from '../../shared/http/fields/dates.ts';
import type { Query } from '../../shared/http/query.ts';
import { resolutionFor, samplingTime } from '../../shared/monitoring/resolutions.ts';
import {
  datapoints,
  metrics,
  metricUnits,
  sampleOf,
  statistics,
  type Point,
} from '../../shared/monitoring/statistics.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';

/** Returns the current value and the history of a metric. docs/monitoring.md */
export const getMetricData = defineOperation({
  name: 'GetMetricData',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },

  parse: ({ bucket, query }) => {
    const start = parseMoment(query, 'start');
    const end = parseMoment(query, 'end');
    const period = parsePeriod(query);
    if (start >= end) throw invalidArgument('start', query.get('start')!, 'start must be before end.');
    if (Math.ceil((end - start) / period) > maximumDatapoints) {
      const message = `There must be at most ${maximumDatapoints} periods from start to end.`;
      throw invalidArgument('period', query.get('period')!, message);
    }
    const metric = oneOf(query, 'metric', metrics);
    const statistic = oneOf(query, 'statistic', statistics);
    return { bucket, metric, statistic, period, start, end };
  },

  authorise: ({ bucket }) => [{ action: 'GetMetricData', bucket }],

  act: async ({ metric, statistic, period, start, end }, { bucket, clock, monitoring, usage }) => {
    const current = sampleOf(await usage.of(bucket.id));
    const now = clock.now();
    // Periods are aligned to the epoch; those that begin within the requested time are returned.
    const first = Math.max(0, Math.ceil(start / period)) * period;
    const last = Math.min(Math.ceil(end / period) * period, now + 1);
    const points: Point[] = [];
    if (first < last) {
      for await (const point of monitoring.samples.read(bucket.id, resolutionFor(period), first, last))
        points.push(point);
    }
    return {
      current: { at: now, value: current[metric] },
      datapoints: datapoints(points, { metric, statistic, period, origin: 0 }),
    };
  },

  render: (data, { bucket, metric, statistic, period }, { settings }) => ({
    xml: metricData.write(
      { bucket, metric, statistic, unit: metricUnits[metric], period: period / 1000, ...data },
      settings.xmlNamespace,
    ),
  }),
});

/** The limit of CloudWatch's GetMetricStatistics. */
const maximumDatapoints = 1440;

/** Returns milliseconds. */
function parsePeriod(query: Query): number {
  const text = required(query, 'period');
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  const step = samplingTime / 1000;
  if (seconds === 0 || seconds % step !== 0) {
    throw invalidArgument('period', text, `period must be a multiple of ${step} seconds.`);
  }
  return seconds * 1000;
}

/** Returns milliseconds since the epoch. */
function parseMoment(query: Query, name: string): number {
  const text = required(query, name);
  const moment = parseIsoDate(text);
  if (moment === undefined) throw invalidArgument(name, text, `${name} must be a time such as 2026-11-20T10:00:00Z.`);
  return moment;
}

function oneOf<const Word extends string>(query: Query, name: string, words: readonly Word[]): Word {
  const text = required(query, name);
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) throw invalidArgument(name, text, `${name} must be one of ${words.join(', ')}.`);
  return word;
}

function required(query: Query, name: string): string {
  const value = query.get(name);
  if (value === undefined) throw invalidArgument(name, '', `The parameter ${name} is missing.`);
  return value;
}
