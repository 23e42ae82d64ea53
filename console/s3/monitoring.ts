import type { S3Client, S3Request } from './client.ts';
import { writeXml, type Tree, type Xml } from './xml.ts';

/*
 * Monitoring and alarms of a bucket, which are sub-resources of Stillage: docs/monitoring.md.
 */

export const metrics = ['BucketSizeBytes', 'NumberOfObjects'] as const;
export type Metric = (typeof metrics)[number];

export const statistics = ['Average', 'Minimum', 'Maximum', 'Sum', 'SampleCount'] as const;
export type Statistic = (typeof statistics)[number];

export const comparisons = [
  'GreaterThanThreshold',
  'GreaterThanOrEqualToThreshold',
  'LessThanThreshold',
  'LessThanOrEqualToThreshold',
] as const;
type Comparison = (typeof comparisons)[number];

export const missingData = ['missing', 'ignore', 'breaching', 'notBreaching'] as const;
type MissingData = (typeof missingData)[number];

export const alarmStates = ['OK', 'ALARM', 'INSUFFICIENT_DATA'] as const;
export type AlarmState = (typeof alarmStates)[number];

/** Returns whether monitoring is on. @throws S3Failure AccessDenied without the privilege `monitoring` */
export async function getMonitoring(client: S3Client, bucket: string): Promise<boolean> {
  const xml = await client.document({ method: 'GET', bucket, query: { monitoring: '' } });
  return xml.textOf('Status') === 'Enabled';
}

/** Returns the request that turns monitoring on or off. */
export function monitoringRequest(bucket: string, isOn: boolean): S3Request {
  const body = writeXml(['MonitoringConfiguration', [['Status', isOn ? 'Enabled' : 'Disabled']]]);
  return { method: 'PUT', bucket, query: { monitoring: '' }, body };
}

/** Turns monitoring on or off. */
export async function putMonitoring(client: S3Client, bucket: string, isOn: boolean): Promise<void> {
  await client.send(monitoringRequest(bucket, isOn));
}

/** A number at a time, in milliseconds since the epoch. */
export interface Datapoint {
  readonly at: number;
  readonly value: number;
}

export interface MetricData {
  readonly current: Datapoint;
  readonly datapoints: readonly Datapoint[];
}

export interface MetricQuery {
  readonly metric: Metric;
  readonly statistic: Statistic;
  /** Seconds, a multiple of 300. */
  readonly period: number;
  /** Milliseconds since the epoch; at most 1,440 periods before the end. */
  readonly start: number;
  readonly end: number;
}

/** Returns the current value of a metric, and its history where the bucket was monitored. */
export async function getMetricData(client: S3Client, bucket: string, asked: MetricQuery): Promise<MetricData> {
  const { metric, statistic, period, start, end } = asked;
  const time = (value: number): string => new Date(value).toISOString();
  const query = {
    'metric-data': '',
    metric,
    statistic,
    period: String(period),
    start: time(start),
    end: time(end),
  };
  const xml = await client.document({ method: 'GET', bucket, query });
  const point = (of: Xml): Datapoint => ({ at: Date.parse(of.textOf('Timestamp')), value: Number(of.textOf('Value')) });
  const current = xml.find('Current');
  return {
    current: current === undefined ? { at: end, value: NaN } : point(current),
    datapoints: xml.all('Datapoint').map(point),
  };
}

/** An alarm as it is set. */
export interface AlarmSettings {
  readonly name: string;
  readonly description: string;
  readonly metric: Metric;
  readonly statistic: Statistic;
  readonly comparison: Comparison;
  readonly threshold: number;
  /** Seconds, a multiple of 300. */
  readonly period: number;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
  readonly missingData: MissingData;
  readonly actionsEnabled: boolean;
  /** The actions executed on a transition into a state: `log:`, `https://…`, `arn:aws:sns:…`. */
  readonly actions: Readonly<Record<AlarmState, readonly string[]>>;
}

export interface Alarm extends AlarmSettings {
  readonly state: AlarmState;
  readonly reason: string;
  readonly since: Date;
}

/** Returns the alarms of a bucket, by name. */
export async function listAlarms(client: S3Client, bucket: string): Promise<Alarm[]> {
  const alarms: Alarm[] = [];
  let marker: string | undefined;
  do {
    const xml = await client.document({ method: 'GET', bucket, query: { alarms: '', marker } });
    alarms.push(...xml.all('Alarm').map(alarmOf));
    marker = xml.optional('NextMarker');
  } while (marker !== undefined);
  return alarms;
}

const actionElements: Readonly<Record<AlarmState, string>> = {
  OK: 'OKAction',
  ALARM: 'AlarmAction',
  INSUFFICIENT_DATA: 'InsufficientDataAction',
};

function alarmOf(xml: Xml): Alarm {
  const actions = (state: AlarmState): string[] => xml.all(actionElements[state]).map(({ text }) => text);
  return {
    name: xml.textOf('Name'),
    description: xml.textOf('Description'),
    metric: xml.textOf('Metric') as Metric,
    statistic: xml.textOf('Statistic') as Statistic,
    comparison: xml.textOf('ComparisonOperator') as Comparison,
    threshold: Number(xml.textOf('Threshold')),
    period: Number(xml.textOf('Period')),
    evaluationPeriods: Number(xml.textOf('EvaluationPeriods')),
    datapointsToAlarm: Number(xml.textOf('DatapointsToAlarm')),
    missingData: xml.textOf('TreatMissingData') as MissingData,
    actionsEnabled: xml.textOf('ActionsEnabled') === 'true',
    actions: { OK: actions('OK'), ALARM: actions('ALARM'), INSUFFICIENT_DATA: actions('INSUFFICIENT_DATA') },
    state: xml.textOf('State') as AlarmState,
    reason: xml.textOf('StateReason'),
    since: new Date(xml.textOf('StateUpdatedTimestamp')),
  };
}

/** Returns the document of an alarm. */
export function alarmDocument(alarm: AlarmSettings): string {
  return writeXml([
    'Alarm',
    [
      alarm.description === '' ? undefined : ['Description', alarm.description],
      ['Metric', alarm.metric],
      ['Statistic', alarm.statistic],
      ['ComparisonOperator', alarm.comparison],
      ['Threshold', alarm.threshold],
      ['Period', alarm.period],
      ['EvaluationPeriods', alarm.evaluationPeriods],
      ['DatapointsToAlarm', alarm.datapointsToAlarm],
      ['TreatMissingData', alarm.missingData],
      ['ActionsEnabled', alarm.actionsEnabled],
      ...alarmStates.flatMap((state) => alarm.actions[state].map((action): Tree => [actionElements[state], action])),
    ],
  ]);
}

/**
 * Creates or changes an alarm. Returns the secret that signs its webhooks, which the service shows once, if it has just made one.
 * @throws S3Failure InvalidBucketState while monitoring is off, TooManyAlarms, InvalidArgument
 */
export async function putAlarm(client: S3Client, bucket: string, alarm: AlarmSettings): Promise<string | undefined> {
  const query = { alarm: '', name: alarm.name };
  const xml = await client.document({ method: 'PUT', bucket, query, body: alarmDocument(alarm) });
  return xml.optional('WebhookSecret');
}

/** Deletes an alarm and its history. */
export async function deleteAlarm(client: S3Client, bucket: string, name: string): Promise<void> {
  await client.send({ method: 'DELETE', bucket, query: { alarm: '', name } });
}

export interface AlarmEvent {
  readonly at: Date;
  readonly type: string;
  readonly summary: string;
}

export interface AlarmHistoryPage {
  readonly events: readonly AlarmEvent[];
  /** Continues the history; absent from the last page. */
  readonly next?: string;
}

/** Returns a page of an alarm's history, newest first. */
export async function getAlarmHistory(
  client: S3Client,
  bucket: string,
  name: string,
  marker?: string,
): Promise<AlarmHistoryPage> {
  const xml = await client.document({ method: 'GET', bucket, query: { 'alarm-history': '', name, marker } });
  const events = xml.all('Item').map((item) => ({
    at: new Date(item.textOf('Timestamp')),
    type: item.textOf('Type'),
    summary: item.textOf('Summary'),
  }));
  const next = xml.optional('NextMarker');
  return next === undefined ? { events } : { events, next };
}
