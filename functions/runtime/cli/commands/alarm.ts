import { Option, type Command } from 'commander';
import {
  comparisonOperators,
  missingDataTreatments,
  type AlarmDefinition,
} from '../../../../shared/metadata/monitoring/alarm-definition.ts';
import { metrics, statistics } from '../../../../shared/metadata/monitoring/statistics.ts';
import type { ShownAlarm } from '../../../admin/alarms.ts';
import type { Ask } from '../../../admin/commands.ts';
import { limitOption } from '../limit-option.ts';
import { family, verb } from '../command.ts';
import { recordReport, tableReport, time, type Report } from '../report.ts';

const bucketOperand = ['<bucket>', 'name of the bucket'] as const;
const which = [bucketOperand, ['<alarm>', 'name of the alarm']] as const;

interface PutOptions {
  readonly metric: string;
  readonly statistic: string;
  readonly comparison: string;
  readonly threshold: string;
  readonly period: string;
  readonly evaluationPeriods: string;
  readonly datapointsToAlarm?: string;
  readonly missingData: string;
  readonly description?: string;
  readonly actions: boolean;
  readonly onOk: readonly string[];
  readonly onAlarm: readonly string[];
  readonly onInsufficientData: readonly string[];
}

/** `stillage alarm` */
export function alarmFamily(): Command {
  return family('alarm', 'alarms of buckets that have monitoring', [
    verb({
      name: 'list',
      does: 'list the alarms of a bucket',
      operands: [bucketOperand],
      examples: ['alarm list photos', 'alarm list photos --json'],
      act: async (ask, [bucket]) => {
        const alarms = await ask('alarm list', { bucket: bucket! });
        const { text } = tableReport(
          alarms,
          [
            ['ALARM', (alarm) => alarm.name],
            ['STATE', ({ state }) => state],
            ['SINCE', ({ since }) => time(since)],
            ['WHEN', ({ definition }) => conditionOf(definition)],
          ],
          'no alarms',
        );
        return { data: alarms.map(shown), text };
      },
    }),
    verb({
      name: 'show',
      does: 'show an alarm',
      operands: which,
      examples: ['alarm show photos full'],
      act: async (ask, [bucket, alarm]) => report(await ask('alarm show', { bucket: bucket!, alarm: alarm! })),
    }),
    verb<PutOptions>({
      name: 'put',
      does: 'make an alarm, or change what it watches for',
      operands: which,
      options: putOptions(),
      service: [limitOption('the limits that the service was started with')],
      examples: [
        'alarm put photos full --threshold 1e12 --on-alarm https://hooks.example.com/full --on-ok log:',
        'alarm put photos growing --metric NumberOfObjects --threshold 1000000 --period 3600 --evaluation-periods 3',
      ],
      act: (ask, [bucket, alarm], options) => put(ask, bucket!, alarm!, options),
    }),
    verb({
      name: 'history',
      does: 'tell what happened to an alarm in the last 30 days, the newest first',
      operands: which,
      examples: ['alarm history photos full'],
      act: async (ask, [bucket, alarm]) => {
        const entries = await ask('alarm history', { bucket: bucket!, alarm: alarm! });
        const { text } = tableReport(
          entries,
          [
            ['TIME', ({ at }) => time(at)],
            ['TYPE', ({ type }) => type],
            ['SUMMARY', ({ summary }) => summary],
          ],
          'nothing happened',
        );
        return { data: entries.map((entry) => ({ ...entry, at: new Date(entry.at).toISOString() })), text };
      },
    }),
    verb({
      name: 'remove',
      does: 'remove an alarm and its history',
      operands: which,
      examples: ['alarm remove photos full'],
      act: async (ask, [bucket, alarm]) => {
        await ask('alarm remove', { bucket: bucket!, alarm: alarm! });
        return `${alarm} is removed`;
      },
    }),
  ]);
}

function putOptions(): readonly Option[] {
  const list = (value: string, previous: readonly string[]): readonly string[] => [...previous, value];
  const action = (flag: string, state: string): Option =>
    new Option(`${flag} <action>`, `what is done when it comes into the state ${state}: log: or https://… (repeatable)`)
      .default([], 'nothing')
      .argParser(list);
  return [
    new Option('--metric <name>', 'what it watches').choices([...metrics]).default('BucketSizeBytes'),
    new Option('--statistic <name>', 'how samples become one number').choices([...statistics]).default('Average'),
    new Option('--comparison <name>', 'when a number breaches the threshold')
      .choices([...comparisonOperators])
      .default('GreaterThanThreshold'),
    new Option('--threshold <number>', 'bytes, or objects').makeOptionMandatory(),
    new Option('--period <seconds>', 'the time that one number stands for: a multiple of 300').default('300'),
    new Option('--evaluation-periods <n>', 'how many of the last periods it looks at').default('1'),
    new Option('--datapoints-to-alarm <n>', 'how many of them must breach (default: all)'),
    new Option('--missing-data <word>', 'what periods without samples count as')
      .choices([...missingDataTreatments])
      .default('missing'),
    new Option('--description <text>', 'what it is for'),
    new Option('--no-actions', 'change its state, and tell nobody'),
    action('--on-ok', 'OK'),
    action('--on-alarm', 'ALARM'),
    action('--on-insufficient-data', 'INSUFFICIENT_DATA'),
  ];
}

async function put(ask: Ask, bucket: string, alarm: string, options: PutOptions): Promise<Report> {
  const fields = {
    Description: options.description,
    Metric: options.metric,
    Statistic: options.statistic,
    ComparisonOperator: options.comparison,
    Threshold: options.threshold,
    Period: options.period,
    EvaluationPeriods: options.evaluationPeriods,
    DatapointsToAlarm: options.datapointsToAlarm,
    TreatMissingData: options.missingData,
    ActionsEnabled: String(options.actions),
    OKAction: options.onOk,
    AlarmAction: options.onAlarm,
    InsufficientDataAction: options.onInsufficientData,
  };
  const { webhookSecret, ...made } = await ask('alarm put', { bucket, alarm, fields });
  const { data, text } = report(made);
  if (webhookSecret === undefined) return { data, text };
  const note = `\n\nIts webhooks are signed with this secret, which is shown this once:\n${webhookSecret}`;
  return { data: { ...(data as object), webhookSecret }, text: text + note };
}

function report(alarm: ShownAlarm): Report {
  const { definition, state, reason, since, created } = alarm;
  const { actions, actionsEnabled } = definition;
  const list = (targets: readonly string[]): string | undefined => targets.join(' ') || undefined;
  return recordReport(shown(alarm), [
    ['alarm', alarm.name],
    ['description', definition.description],
    ['state', `${state} since ${time(since)}`],
    ['reason', reason],
    ['when', conditionOf(definition)],
    ['missing data', definition.treatMissingData],
    ['on OK', list(actions.OK)],
    ['on ALARM', list(actions.ALARM)],
    ['on INSUFFICIENT_DATA', list(actions.INSUFFICIENT_DATA)],
    ['actions', actionsEnabled ? undefined : 'off'],
    ['created', time(created)],
  ]);
}

const symbols = {
  GreaterThanThreshold: '>',
  GreaterThanOrEqualToThreshold: '>=',
  LessThanThreshold: '<',
  LessThanOrEqualToThreshold: '<=',
} as const;

/** `Average BucketSizeBytes > 1000 in 2 of 3 periods of 300 s` */
function conditionOf(definition: AlarmDefinition): string {
  const { statistic, metric, comparison, threshold, datapointsToAlarm, evaluationPeriods, period } = definition;
  return `${statistic} ${metric} ${symbols[comparison]} ${threshold} in ${datapointsToAlarm} of ${evaluationPeriods} periods of ${period} s`;
}

/** An alarm for programs. */
function shown({ name, definition, state, reason, since, created }: ShownAlarm): object {
  const moment = (at: number): string => new Date(at).toISOString();
  return { name, ...definition, state, reason, since: moment(since), created: moment(created) };
}
