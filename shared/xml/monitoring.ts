import { readDocument, type XmlSource } from './reader.ts';
import { document, element, timestamp, type Markup, type XmlElements } from './writer.ts';

/*
 * The documents of monitoring and alarms. They are Stillage's own: for S3, CloudWatch does this.
 */

export type MonitoringStatus = 'Enabled' | 'Disabled';

/** Reads the body of PutBucketMonitoring. @throws S3Error MalformedXML */
export function readMonitoringConfiguration(body: XmlSource): MonitoringStatus {
  const configuration = readDocument(body, 'MonitoringConfiguration').onlyChildren('Status');
  return configuration.one('Status').choice('Enabled', 'Disabled');
}

/** Returns the response body of GetBucketMonitoring. */
export function monitoringConfiguration(status: MonitoringStatus, namespace: string): string {
  return document('MonitoringConfiguration', namespace, { Status: status });
}

/** A number and its time, in milliseconds since the epoch. */
export interface TimedValue {
  readonly at: number;
  readonly value: number;
}

/** Returns the response body of GetMetricData. */
export function metricData(
  data: {
    readonly bucket: string;
    readonly metric: string;
    readonly statistic: string;
    readonly unit: string;
    /** In seconds. */
    readonly period: number;
    readonly current: TimedValue;
    readonly datapoints: readonly TimedValue[];
  },
  namespace: string,
): string {
  return document('MetricData', namespace, {
    Bucket: data.bucket,
    Metric: data.metric,
    Statistic: data.statistic,
    Unit: data.unit,
    Period: data.period,
    Current: timedValue(data.current),
    Datapoint: data.datapoints.map(timedValue),
  });
}

function timedValue({ at, value }: TimedValue): XmlElements {
  return { Timestamp: timestamp(at), Value: value };
}

const singleFields = [
  'Description',
  'Metric',
  'Statistic',
  'ComparisonOperator',
  'Threshold',
  'Period',
  'EvaluationPeriods',
  'DatapointsToAlarm',
  'TreatMissingData',
  'ActionsEnabled',
] as const;
const repeatedFields = ['OKAction', 'AlarmAction', 'InsufficientDataAction'] as const;

/** The fields of an alarm as sent. */
export type AlarmDocument = Readonly<Record<(typeof singleFields)[number], string | undefined>> &
  Readonly<Record<(typeof repeatedFields)[number], readonly string[]>>;

/** Reads the body of PutAlarm without checking its values. @throws S3Error MalformedXML */
export function readAlarm(body: XmlSource): AlarmDocument {
  const alarm = readDocument(body, 'Alarm').onlyChildren(...singleFields, ...repeatedFields);
  const single = singleFields.map((name) => [name, alarm.optional(name)?.text] as const);
  const repeated = repeatedFields.map((name) => [name, alarm.many(name).map(({ text }) => text)] as const);
  return Object.fromEntries<unknown>([...single, ...repeated]) as AlarmDocument;
}

/** An alarm as shown in responses. Times in milliseconds since the epoch, periods in seconds. */
export interface ShownAlarm {
  readonly name: string;
  readonly description: string | undefined;
  readonly metric: string;
  readonly statistic: string;
  readonly comparison: string;
  readonly threshold: number;
  readonly period: number;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
  readonly treatMissingData: string;
  readonly actionsEnabled: boolean;
  readonly actions: Readonly<Record<'OK' | 'ALARM' | 'INSUFFICIENT_DATA', readonly string[]>>;
  readonly state: string;
  readonly reason: string;
  readonly since: number;
  readonly created: number;
}

/** Returns the response body of PutAlarm. */
export function putAlarmResult(name: string, webhookSecret: string | undefined, namespace: string): string {
  return document('PutAlarmResult', namespace, { Name: name, WebhookSecret: webhookSecret });
}

/** Returns the response body of GetAlarm. */
export function alarmDocument(alarm: ShownAlarm, namespace: string): string {
  return document('Alarm', namespace, alarmFields(alarm));
}

/** A page of alarms, ordered by name. */
export interface AlarmListing {
  readonly bucket: string;
  readonly marker: string;
  readonly nextMarker: string | undefined;
  readonly maxAlarms: number;
  readonly alarms: readonly ShownAlarm[];
}

/** Returns the response body of ListAlarms. */
export function listAlarmsResult(listing: AlarmListing, namespace: string): string {
  return document('ListAlarmsResult', namespace, {
    Name: listing.bucket,
    Marker: listing.marker,
    NextMarker: listing.nextMarker,
    MaxAlarms: listing.maxAlarms,
    IsTruncated: listing.nextMarker !== undefined,
    Alarm: listing.alarms.map(alarmFields),
  });
}

/** Returns the response body of GetAlarmHistory. */
export function alarmHistory(
  history: {
    readonly name: string;
    readonly marker: string;
    readonly nextMarker: string | undefined;
    readonly entries: readonly { readonly at: number; readonly type: string; readonly summary: string }[];
  },
  namespace: string,
): string {
  const items: readonly Markup[] = history.entries.map(({ at, type, summary }) =>
    element('Item', { Timestamp: timestamp(at), Type: type, Summary: summary }),
  );
  return document('AlarmHistory', namespace, [
    element('Name', history.name),
    element('Marker', history.marker),
    ...(history.nextMarker === undefined ? [] : [element('NextMarker', history.nextMarker)]),
    element('IsTruncated', history.nextMarker !== undefined),
    ...items,
  ]);
}

function alarmFields(alarm: ShownAlarm): XmlElements {
  return {
    Name: alarm.name,
    Description: alarm.description,
    Metric: alarm.metric,
    Statistic: alarm.statistic,
    ComparisonOperator: alarm.comparison,
    Threshold: alarm.threshold,
    Period: alarm.period,
    EvaluationPeriods: alarm.evaluationPeriods,
    DatapointsToAlarm: alarm.datapointsToAlarm,
    TreatMissingData: alarm.treatMissingData,
    ActionsEnabled: alarm.actionsEnabled,
    OKAction: alarm.actions.OK,
    AlarmAction: alarm.actions.ALARM,
    InsufficientDataAction: alarm.actions.INSUFFICIENT_DATA,
    State: alarm.state,
    StateReason: alarm.reason,
    StateUpdatedTimestamp: timestamp(alarm.since),
    CreationDate: timestamp(alarm.created),
  };
}
