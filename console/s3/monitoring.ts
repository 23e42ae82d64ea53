import type { S3Client, S3Request } from './client.ts';
import { writeXml } from './xml.ts';
import {
  alarmHistory,
  alarmListing,
  metricData,
  monitoring,
  putAlarmResult,
  writtenAlarm,
  type ShownAlarm,
} from '../../shared/documents/monitoring.ts';
import type { ValueOf } from '../../shared/documents/schema.ts';

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
  return monitoring.content.read(xml) === 'Enabled';
}

/** Returns the request that turns monitoring on or off. */
export function monitoringRequest(bucket: string, isOn: boolean): S3Request {
  const body = writeXml(monitoring, isOn ? 'Enabled' : 'Disabled');
  return { method: 'PUT', bucket, query: { monitoring: '' }, body };
}

/** Turns monitoring on or off. */
export async function putMonitoring(client: S3Client, bucket: string, isOn: boolean): Promise<void> {
  await client.send(monitoringRequest(bucket, isOn));
}

export type MetricData = Pick<ValueOf<typeof metricData>, 'current' | 'datapoints'>;

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
  return metricData.content.read(await client.document({ method: 'GET', bucket, query }));
}

/** Tells whether a statistic of a metric is a number of bytes: how many samples there are is none. */
export const isInBytes = ({ metric, statistic }: Readonly<{ metric: Metric; statistic: Statistic }>): boolean =>
  metric === 'BucketSizeBytes' && statistic !== 'SampleCount';

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
    const page = alarmListing.content.read(xml);
    alarms.push(...page.alarms.map(alarmOf));
    marker = page.nextMarker;
  } while (marker !== undefined);
  return alarms;
}

function alarmOf(alarm: ShownAlarm): Alarm {
  const { OKAction, AlarmAction, InsufficientDataAction, ...others } = alarm;
  return {
    ...others,
    description: others.description ?? '',
    metric: others.metric as Metric,
    statistic: others.statistic as Statistic,
    comparison: others.comparison as Comparison,
    missingData: others.treatMissingData as MissingData,
    actions: { OK: OKAction, ALARM: AlarmAction, INSUFFICIENT_DATA: InsufficientDataAction },
    state: others.state as AlarmState,
    since: new Date(others.since),
  };
}

/** Returns the document of an alarm. */
export function alarmDocument(alarm: AlarmSettings): string {
  return writeXml(writtenAlarm, {
    Description: alarm.description === '' ? undefined : alarm.description,
    Metric: alarm.metric,
    Statistic: alarm.statistic,
    ComparisonOperator: alarm.comparison,
    Threshold: String(alarm.threshold),
    Period: String(alarm.period),
    EvaluationPeriods: String(alarm.evaluationPeriods),
    DatapointsToAlarm: String(alarm.datapointsToAlarm),
    TreatMissingData: alarm.missingData,
    ActionsEnabled: String(alarm.actionsEnabled),
    OKAction: alarm.actions.OK,
    AlarmAction: alarm.actions.ALARM,
    InsufficientDataAction: alarm.actions.INSUFFICIENT_DATA,
  });
}

/**
 * Creates or changes an alarm. Returns the secret that signs its webhooks, which the service shows once, if it has just made one.
 * @throws S3Failure InvalidBucketState while monitoring is off, TooManyAlarms, InvalidArgument
 */
export async function putAlarm(client: S3Client, bucket: string, alarm: AlarmSettings): Promise<string | undefined> {
  const query = { alarm: '', name: alarm.name };
  const xml = await client.document({ method: 'PUT', bucket, query, body: alarmDocument(alarm) });
  return putAlarmResult.content.read(xml).webhookSecret;
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
  const { entries, nextMarker } = alarmHistory.content.read(xml);
  const events = entries.map(({ at, ...entry }) => ({ at: new Date(at), ...entry }));
  return nextMarker === undefined ? { events } : { events, next: nextMarker };
}
