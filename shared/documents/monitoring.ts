import {
  boolean,
  documentType,
  elements,
  ifAny,
  many,
  number,
  one,
  oneOf,
  only,
  text,
  time,
  type ValueOf,
} from './schema.ts';

/*
 * The documents of monitoring and alarms. They are Stillage's own: for S3, CloudWatch does this. Times are milliseconds
 * since the epoch, periods seconds.
 */

/** Whether a bucket is monitored. */
export const monitoring = documentType('MonitoringConfiguration', only('Status', oneOf('Enabled', 'Disabled')));

const timedValue = elements({ at: one('Timestamp', time), value: one('Value', number) });

/** The response of GetMetricData. */
export const metricData = documentType(
  'MetricData',
  elements({
    bucket: one('Bucket', text),
    metric: one('Metric', text),
    statistic: one('Statistic', text),
    unit: one('Unit', text),
    period: one('Period', number),
    current: one('Current', timedValue),
    datapoints: many('Datapoint', timedValue),
  }),
);

const actions = {
  OKAction: many('OKAction', text),
  AlarmAction: many('AlarmAction', text),
  InsufficientDataAction: many('InsufficientDataAction', text),
};

/** The body of PutAlarm. Its values are checked later, as texts. */
export const writtenAlarm = documentType(
  'Alarm',
  elements({
    Description: ifAny('Description', text),
    Metric: ifAny('Metric', text),
    Statistic: ifAny('Statistic', text),
    ComparisonOperator: ifAny('ComparisonOperator', text),
    Threshold: ifAny('Threshold', text),
    Period: ifAny('Period', text),
    EvaluationPeriods: ifAny('EvaluationPeriods', text),
    DatapointsToAlarm: ifAny('DatapointsToAlarm', text),
    TreatMissingData: ifAny('TreatMissingData', text),
    ActionsEnabled: ifAny('ActionsEnabled', text),
    ...actions,
  }),
);

const shownAlarm = elements({
  name: one('Name', text),
  description: ifAny('Description', text),
  metric: one('Metric', text),
  statistic: one('Statistic', text),
  comparison: one('ComparisonOperator', text),
  threshold: one('Threshold', number),
  period: one('Period', number),
  evaluationPeriods: one('EvaluationPeriods', number),
  datapointsToAlarm: one('DatapointsToAlarm', number),
  treatMissingData: one('TreatMissingData', text),
  actionsEnabled: one('ActionsEnabled', boolean),
  ...actions,
  state: one('State', text),
  reason: one('StateReason', text),
  since: one('StateUpdatedTimestamp', time),
  created: one('CreationDate', time),
});
/** An alarm as shown in responses. */
export type ShownAlarm = ValueOf<typeof shownAlarm>;

/** The response of GetAlarm. */
export const alarm = documentType('Alarm', shownAlarm);

/** The response of PutAlarm. */
export const putAlarmResult = documentType(
  'PutAlarmResult',
  elements({ name: one('Name', text), webhookSecret: ifAny('WebhookSecret', text) }),
);

/** A page of alarms, ordered by name. */
export const alarmListing = documentType(
  'ListAlarmsResult',
  elements({
    bucket: one('Name', text),
    marker: one('Marker', text),
    nextMarker: ifAny('NextMarker', text),
    maxAlarms: one('MaxAlarms', number),
    isTruncated: one('IsTruncated', boolean),
    alarms: many('Alarm', shownAlarm),
  }),
);

/** A page of the history of an alarm, newest first. */
export const alarmHistory = documentType(
  'AlarmHistory',
  elements({
    name: one('Name', text),
    marker: one('Marker', text),
    nextMarker: ifAny('NextMarker', text),
    isTruncated: one('IsTruncated', boolean),
    entries: many(
      'Item',
      elements({ at: one('Timestamp', time), type: one('Type', text), summary: one('Summary', text) }),
    ),
  }),
);
