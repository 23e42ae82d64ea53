import type { Command, Option } from 'commander';
import * as z from 'zod/mini';
import {
  alarmStates,
  comparisonOperators,
  everyActionKind,
  missingDataTreatments,
  readActions,
  readCount,
  readDescription,
  readPeriod,
  readThreshold,
  type AlarmDefinition,
  readAlarmDefinition,
  readAlarmName,
} from '../../../shared/monitoring/alarms/alarm-definition.ts';
import { historyTypes } from '../../../shared/monitoring/alarms/alarm-history.ts';
import { metrics, statistics } from '../../../shared/monitoring/statistics.ts';
import { option } from '../../../shared/command-line/option.ts';
import { checked } from '../../../shared/command-line/option-values.ts';
import { family, limitOfService, verb, type Named } from '../command.ts';
import * as operand from '../operands.ts';
import { recordReport, tableReport, time, type Report } from '../../../shared/command-line/report.ts';
import { asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import type { Alarm } from '../../../shared/monitoring/alarms/alarm.ts';
import { argument, command, type Ask } from '../../../functions/admin/command.ts';
import { result } from '../../../functions/admin/results.ts';

const named = { bucket: argument.text, alarm: argument.text } as const;

const { text, count, flag, time: moment } = result;
const shownAlarm = result.object({
  name: text,
  definition: result.object({
    ...{ description: result.optional(text), metric: result.enum(metrics), statistic: result.enum(statistics) },
    ...{ comparison: result.enum(comparisonOperators), threshold: result.number, period: count },
    ...{ evaluationPeriods: count, datapointsToAlarm: count, treatMissingData: result.enum(missingDataTreatments) },
    actionsEnabled: flag,
    actions: result.object({
      OK: result.list(text),
      ALARM: result.list(text),
      INSUFFICIENT_DATA: result.list(text),
    }),
  }),
  ...{ state: result.enum(alarmStates), reason: text, since: moment, created: moment },
});
const historyEntry = result.object({ at: moment, type: result.enum(historyTypes), summary: text });

export const alarmCommands = {
  list: command(
    'alarm list',
    'read',
    { bucket: argument.text },
    result.list(shownAlarm),
    async ({ buckets, monitoring }, { bucket }) => {
      const alarms: ShownAlarm[] = [];
      for await (const alarm of monitoring.alarms.all((await buckets.load(bucket)).id))
        alarms.push(withoutSecret(alarm));
      return alarms;
    },
  ),
  show: command('alarm show', 'read', named, shownAlarm, async ({ buckets, monitoring }, { bucket, alarm }) => {
    const { id } = await buckets.load(bucket);
    return withoutSecret(await monitoring.alarms.load(id, readAlarmName(alarm)));
  }),
  /** @param fields the fields of a PutAlarm document; missing lists of actions are empty */
  put: command(
    'alarm put',
    'manage',
    { ...named, fields: argument.fields },
    result.object({ ...shownAlarm.shape, webhookSecret: result.optional(result.text) }),
    async ({ buckets, monitoring, settings }, { bucket: bucketName, alarm, fields }) => {
      const bucket = await buckets.load(bucketName);
      const name = readAlarmName(alarm);
      const noActions = { OKAction: [], AlarmAction: [], InsufficientDataAction: [] };
      const definition = readAlarmDefinition({ ...noActions, ...fields }, monitoring.actionKinds);
      const { alarmsPerBucket } = settings.limits;
      const { webhookSecret } = await monitoring.alarms.put(asService(bucket), name, definition, alarmsPerBucket);
      const made = withoutSecret(await monitoring.alarms.load(bucket.id, name));
      return { ...made, ...(webhookSecret !== undefined && { webhookSecret }) };
    },
  ),
  history: command(
    'alarm history',
    'read',
    named,
    result.list(historyEntry),
    async ({ buckets, monitoring, clock }, { bucket, alarm }) => {
      const { id: bucketId } = await buckets.load(bucket);
      const { id } = await monitoring.alarms.load(bucketId, readAlarmName(alarm));
      return (await monitoring.history.list(bucketId, id, { after: undefined, limit: 100, now: clock.now() })).entries;
    },
  ),
  remove: command(
    'alarm remove',
    'manage',
    named,
    result.nothing,
    async ({ buckets, monitoring }, { bucket, alarm }) => {
      await monitoring.alarms.remove(asService(await buckets.load(bucket)), readAlarmName(alarm));
    },
  ),
};

/** Returns an alarm without its secret. */
type ShownAlarm = Pick<Alarm, 'name' | 'definition' | 'state' | 'reason' | 'since' | 'created'>;

function withoutSecret({ name, definition, state, reason, since, created }: Alarm): ShownAlarm {
  return { name, definition, state, reason, since, created };
}

// Made when they are needed, as in the other families: the cloud has their commands, and neither operands nor options.
const which = (): readonly operand.Operand[] => [
  operand.bucket,
  ['<alarm>', 'name of the alarm', checked(readAlarmName)],
];

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
export function commandLine(named: Named): Command {
  return family(named, [
    verb({
      name: 'list',
      does: 'List the alarms of a bucket',
      operands: [operand.bucket],
      examples: ['alarm list photos', 'alarm list photos --json'],
      act: async (ask, [bucket]) => {
        const alarms = await ask(alarmCommands.list, { bucket: bucket! });
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
      operands: which(),
      examples: ['alarm show photos full'],
      act: async (ask, [bucket, alarm]) => report(await ask(alarmCommands.show, { bucket: bucket!, alarm: alarm! })),
    }),
    verb<PutOptions>({
      name: 'put',
      does: 'Create an alarm, or replace its definition',
      operands: which(),
      options: putOptions(),
      service: [limitOfService()],
      examples: [
        'alarm put photos full --threshold 1e12 --on-alarm https://hooks.example.com/full',
        'alarm put photos many --metric NumberOfObjects --threshold 1e6 --on-alarm log:',
      ],
      act: (ask, [bucket, alarm], options) => put(ask, bucket!, alarm!, options),
    }),
    verb({
      name: 'history',
      does: 'Show the history of an alarm in the last 30 days, newest first',
      operands: which(),
      examples: ['alarm history photos full'],
      act: async (ask, [bucket, alarm]) => {
        const entries = await ask(alarmCommands.history, { bucket: bucket!, alarm: alarm! });
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
      operands: which(),
      examples: ['alarm remove photos full'],
      act: async (ask, [bucket, alarm]) => {
        await ask(alarmCommands.remove, { bucket: bucket!, alarm: alarm! });
        return `removed ${alarm}`;
      },
    }),
  ]);
}

function putOptions(): readonly Option[] {
  const actions = z.pipe(
    checked((value) => readActions('The action', [value], everyActionKind)),
    z.transform((target) => [target]),
  );
  const action = (flag: string, state: string): Option =>
    option(`${flag} <action>`, `action on entering ${state}: log: or an https:// URL (repeatable)`, actions).default(
      [],
    );
  return [
    option('--metric <name>', 'metric to watch')
      .choices([...metrics])
      .default('BucketSizeBytes'),
    option('--statistic <name>', 'statistic of the samples of a period')
      .choices([...statistics])
      .default('Average'),
    option('--comparison <name>', 'comparison that breaches the threshold')
      .choices([...comparisonOperators])
      .default('GreaterThanThreshold'),
    option(
      '--threshold <number>',
      'threshold, in bytes or objects (required)',
      checked(readThreshold),
    ).makeOptionMandatory(),
    option('--period <seconds>', 'length of a period in seconds, a multiple of 300', checked(readPeriod)).default(
      '300',
    ),
    option(
      '--evaluation-periods <n>',
      'number of recent periods to evaluate',
      checked((value) => readCount('EvaluationPeriods', value)),
    ).default('1'),
    option(
      '--datapoints-to-alarm <n>',
      'number of those that must breach',
      checked((value) => readCount('DatapointsToAlarm', value)),
    ).default(undefined, 'all'),
    option('--missing-data <treatment>', 'treatment of periods without samples')
      .choices([...missingDataTreatments])
      .default('missing'),
    option('--description <text>', 'purpose of the alarm', checked(readDescription)),
    option('--no-actions', 'change its state without actions'),
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
  const { webhookSecret, ...made } = await ask(alarmCommands.put, { bucket, alarm, fields });
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
