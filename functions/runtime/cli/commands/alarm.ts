import { Option, type Command } from 'commander';
import {
  comparisonOperators,
  missingDataTreatments,
  type AlarmDefinition,
} from '../../../../shared/metadata/monitoring/alarm-definition.ts';
import { metrics, statistics } from '../../../../shared/metadata/monitoring/statistics.ts';
import type { ShownAlarm } from '../../../admin/alarms.ts';
import type { Ask } from '../../../admin/commands.ts';
import { limitOfServiceOption } from '../../command-line/limit-option.ts';
import { family, verb } from '../command.ts';
import { recordReport, tableReport, time, type Report } from '../../command-line/report.ts';

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

/** Returns `stillage alarm`. */
export function alarmFamily(): Command {
  return family('alarm', 'Manage alarms of monitored buckets', [
    verb({
      name: 'list',
      does: 'List the alarms of a bucket',
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
      does: 'Show an alarm',
      operands: which,
      examples: ['alarm show photos full'],
      act: async (ask, [bucket, alarm]) => report(await ask('alarm show', { bucket: bucket!, alarm: alarm! })),
    }),
    verb<PutOptions>({
      name: 'put',
      does: 'Create an alarm, or replace its definition',
      operands: which,
      options: putOptions(),
      service: [limitOfServiceOption()],
      examples: [
        'alarm put photos full --threshold 1e12 --on-alarm https://hooks.example.com/full',
        'alarm put photos many --metric NumberOfObjects --threshold 1e6 --on-alarm log:',
      ],
      act: (ask, [bucket, alarm], options) => put(ask, bucket!, alarm!, options),
    }),
    verb({
      name: 'history',
      does: 'Show the history of an alarm in the last 30 days, newest first',
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
          'no history',
        );
        return { data: entries.map((entry) => ({ ...entry, at: new Date(entry.at).toISOString() })), text };
      },
    }),
    verb({
      name: 'remove',
      does: 'Remove an alarm and its history',
      operands: which,
      examples: ['alarm remove photos full'],
      act: async (ask, [bucket, alarm]) => {
        await ask('alarm remove', { bucket: bucket!, alarm: alarm! });
        return `removed ${alarm}`;
      },
    }),
  ]);
}

function putOptions(): readonly Option[] {
  const list = (value: string, previous: readonly string[]): readonly string[] => [...previous, value];
  const action = (flag: string, state: string): Option =>
    new Option(`${flag} <action>`, `action on entering ${state}: log: or an https:// URL (repeatable)`)
      .default([])
      .argParser(list);
  return [
    new Option('--metric <name>', 'metric to watch').choices([...metrics]).default('BucketSizeBytes'),
    new Option('--statistic <name>', 'statistic of the samples of a period')
      .choices([...statistics])
      .default('Average'),
    new Option('--comparison <name>', 'comparison that breaches the threshold')
      .choices([...comparisonOperators])
      .default('GreaterThanThreshold'),
    new Option('--threshold <number>', 'threshold, in bytes or objects (required)').makeOptionMandatory(),
    new Option('--period <seconds>', 'length of a period in seconds, a multiple of 300').default('300'),
    new Option('--evaluation-periods <n>', 'number of recent periods to evaluate').default('1'),
    new Option('--datapoints-to-alarm <n>', 'number of those that must breach').default(undefined, 'all'),
    new Option('--missing-data <treatment>', 'treatment of periods without samples')
      .choices([...missingDataTreatments])
      .default('missing'),
    new Option('--description <text>', 'purpose of the alarm'),
    new Option('--no-actions', 'change its state without actions'),
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
  const note = `\n\nWebhooks are signed with this secret, which is shown only now:\n${webhookSecret}`;
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

/** Returns an alarm as `--json` prints it. */
function shown({ name, definition, state, reason, since, created }: ShownAlarm): object {
  const moment = (at: number): string => new Date(at).toISOString();
  return { name, ...definition, state, reason, since: moment(since), created: moment(created) };
}
