import { invalidArgument } from '../../errors/s3-error.ts';
import { samplingTime } from '../resolutions.ts';
import { metrics, statistics, type Metric, type Statistic } from '../statistics.ts';

export const comparisonOperators = [
  'GreaterThanThreshold',
  'GreaterThanOrEqualToThreshold',
  'LessThanThreshold',
  'LessThanOrEqualToThreshold',
] as const;
export type ComparisonOperator = (typeof comparisonOperators)[number];

export const missingDataTreatments = ['missing', 'ignore', 'breaching', 'notBreaching'] as const;
export type MissingDataTreatment = (typeof missingDataTreatments)[number];

export const alarmStates = ['OK', 'ALARM', 'INSUFFICIENT_DATA'] as const;

export type AlarmState = (typeof alarmStates)[number];

/** The targets to notify when an alarm enters each state. */
type AlarmActions = Readonly<Record<AlarmState, readonly string[]>>;

/**
 * The definition of an alarm:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
 */
export interface AlarmDefinition {
  readonly description: string | undefined;
  readonly metric: Metric;
  readonly statistic: Statistic;
  readonly comparison: ComparisonOperator;
  readonly threshold: number;
  /** Seconds. */
  readonly period: number;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
  readonly treatMissingData: MissingDataTreatment;
  readonly actionsEnabled: boolean;
  readonly actions: AlarmActions;
}

/** The elements of an alarm's document as written; undefined if absent. */
export interface AlarmFields {
  readonly Description?: string | undefined;
  readonly Metric?: string | undefined;
  readonly Statistic?: string | undefined;
  readonly ComparisonOperator?: string | undefined;
  readonly Threshold?: string | undefined;
  readonly Period?: string | undefined;
  readonly EvaluationPeriods?: string | undefined;
  readonly DatapointsToAlarm?: string | undefined;
  readonly TreatMissingData?: string | undefined;
  readonly ActionsEnabled?: string | undefined;
  readonly OKAction: readonly string[];
  readonly AlarmAction: readonly string[];
  readonly InsufficientDataAction: readonly string[];
}

const actionKinds = ['log', 'webhook', 'topic'] as const;
/** The kinds of actions. Not every deployment supports `topic`. */
export type ActionKind = (typeof actionKinds)[number];
/** The action kinds of a deployment that supports all of them. */
export const everyActionKind: ReadonlySet<ActionKind> = new Set(actionKinds);

const samplingSeconds = samplingTime / 1000;
const hourSeconds = 3600;
const daySeconds = 24 * hourSeconds;
const actionsPerState = 5;
const descriptionLength = 1024;
const nameLength = 255;
const actionLength = 1024;
/** The range of values that CloudWatch accepts. */
const largestNumber = 2 ** 360;
const smallestNumber = 2 ** -360;

/**
 * Validates the fields of an alarm.
 * @param kinds the action kinds that the deployment supports
 * @throws S3Error InvalidArgument that names the field
 */
export function readAlarmDefinition(fields: AlarmFields, kinds: ReadonlySet<ActionKind>): AlarmDefinition {
  const period = readPeriod(fields.Period);
  const evaluationPeriods = readCount('EvaluationPeriods', fields.EvaluationPeriods);
  const longest = period >= hourSeconds ? 7 * daySeconds : daySeconds;
  if (period * evaluationPeriods > longest) {
    const rule = `times Period must not exceed ${longest} seconds`;
    throw bad('EvaluationPeriods', fields.EvaluationPeriods, rule);
  }
  const datapointsToAlarm =
    fields.DatapointsToAlarm === undefined
      ? evaluationPeriods
      : readCount('DatapointsToAlarm', fields.DatapointsToAlarm);
  if (datapointsToAlarm > evaluationPeriods) {
    throw bad('DatapointsToAlarm', fields.DatapointsToAlarm, 'must be between 1 and EvaluationPeriods');
  }
  return {
    description: readDescription(fields.Description),
    metric: oneOf('Metric', fields.Metric, metrics),
    statistic: oneOf('Statistic', fields.Statistic, statistics),
    comparison: oneOf('ComparisonOperator', fields.ComparisonOperator, comparisonOperators),
    threshold: readThreshold(fields.Threshold),
    period,
    evaluationPeriods,
    datapointsToAlarm,
    treatMissingData: oneOf('TreatMissingData', fields.TreatMissingData ?? 'missing', missingDataTreatments),
    actionsEnabled: oneOf('ActionsEnabled', fields.ActionsEnabled ?? 'true', ['true', 'false']) === 'true',
    actions: {
      OK: readActions('OKAction', fields.OKAction, kinds),
      ALARM: readActions('AlarmAction', fields.AlarmAction, kinds),
      INSUFFICIENT_DATA: readActions('InsufficientDataAction', fields.InsufficientDataAction, kinds),
    },
  };
}

/** Validates the name of an alarm: 1 to 255 characters, without control characters. @throws S3Error InvalidArgument */
export function readAlarmName(name: string | undefined): string {
  if (name === undefined || name === '') throw bad('name', name, 'must name an alarm');
  if (!isText(name, nameLength)) {
    throw bad('name', name, `must have at most ${nameLength} characters, and no control characters`);
  }
  return name;
}

/** Returns the kind of an action, or undefined if the action is invalid. */
function actionKind(action: string): ActionKind | undefined {
  if (action === 'log:') return 'log';
  if (/^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}(?:\.fifo)?$/.test(action)) return 'topic';
  return isWebhook(action) ? 'webhook' : undefined;
}

/** Returns whether an alarm calls a webhook and therefore needs a signing secret. */
export function callsWebhooks({ actions }: AlarmDefinition): boolean {
  return Object.values(actions)
    .flat()
    .some((action) => actionKind(action) === 'webhook');
}

/** Accepts `https` only, and no credentials, which logs and histories would reveal. */
function isWebhook(action: string): boolean {
  if (!action.startsWith('https://') || !URL.canParse(action)) return false;
  const { username, password, hostname } = new URL(action);
  return username === '' && password === '' && hostname !== '';
}

/** Reads the actions of a state. @param kinds those that the deployment supports @throws S3Error InvalidArgument */
export function readActions(
  field: string,
  actions: readonly string[],
  kinds: ReadonlySet<ActionKind>,
): readonly string[] {
  if (actions.length > actionsPerState) {
    throw bad(field, String(actions.length), `can be given at most ${actionsPerState} times`);
  }
  for (const action of actions) {
    const kind = isText(action, actionLength) ? actionKind(action) : undefined;
    if (kind === undefined) throw bad(field, action, 'must be log:, an https:// address, or the ARN of an SNS topic');
    if (!kinds.has(kind)) throw bad(field, action, 'names an SNS topic, which only a cloud deployment can use');
  }
  return [...new Set(actions)];
}

/** Reads the description of an alarm; empty: none. @throws S3Error InvalidArgument */
export function readDescription(description: string | undefined): string | undefined {
  if (description === undefined || description === '') return undefined;
  if (!isText(description.replaceAll(/[\t\r\n]/g, ' '), descriptionLength)) {
    const rule = `must have at most ${descriptionLength} characters, and no control characters other than tabs and line breaks`;
    throw bad('Description', description, rule);
  }
  return description;
}

/** Reads the threshold of an alarm. @throws S3Error InvalidArgument */
export function readThreshold(text: string | undefined): number {
  const number =
    text !== undefined && /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/.test(text) ? Number(text) : NaN;
  const size = Math.abs(number);
  if (!(size === 0 || (size >= smallestNumber && size <= largestNumber))) {
    throw bad('Threshold', text, 'must be a number');
  }
  return number + 0; // "-0" is 0
}

/** Reads the length of a period in seconds. @throws S3Error InvalidArgument */
export function readPeriod(text: string | undefined): number {
  const period = wholeNumber('Period', text);
  if (period >= samplingSeconds && period % samplingSeconds === 0) return period;
  throw bad('Period', text, `must be a multiple of ${samplingSeconds} seconds`);
}

/** Reads a number of periods. @throws S3Error InvalidArgument */
export function readCount(field: string, text: string | undefined): number {
  const number = wholeNumber(field, text);
  if (number >= 1) return number;
  throw bad(field, text, 'must be at least 1');
}

function wholeNumber(field: string, text: string | undefined): number {
  if (text === undefined || !/^\d{1,9}$/.test(text)) throw bad(field, text, 'must be a whole number');
  return Number(text);
}

function oneOf<const Word extends string>(field: string, text: string | undefined, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) throw bad(field, text, `must be one of ${words.join(', ')}`);
  return word;
}

function isText(text: string, maximum: number): boolean {
  return [...text].length <= maximum && !/\p{Cc}/u.test(text);
}

function bad(field: string, value: string | undefined, rule: string): ReturnType<typeof invalidArgument> {
  return invalidArgument(field, value ?? '', `${field} ${value === undefined ? 'is missing: it ' : ''}${rule}.`);
}
