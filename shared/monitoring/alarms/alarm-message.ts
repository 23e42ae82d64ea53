import type { AlarmChange } from '../../ports/notifier.ts';
import type { Attributes } from '../../ports/key-value-table.ts';
import { StoredReader } from '../../storage/table/stored-reader.ts';
import type { Alarm } from './alarm.ts';
import type { Evaluation } from './alarm-evaluation.ts';
import { metricUnits } from '../statistics.ts';

/** The namespace of all metrics in messages. */
const namespace = 'Stillage';

/** Returns the message of an alarm that has changed its state: JSON, in the format of CloudWatch's notifications. */
export function alarmMessage(change: {
  readonly alarm: Alarm;
  readonly to: Evaluation;
  readonly at: number;
  readonly bucket: string;
  readonly project: string;
  readonly region: string;
}): string {
  const { alarm, to, at, bucket, project, region } = change;
  const { definition } = alarm;
  return JSON.stringify({
    AlarmName: alarm.name,
    AlarmDescription: definition.description ?? null,
    AccountId: project,
    NewStateValue: to.state,
    OldStateValue: alarm.state,
    NewStateReason: to.reason,
    StateChangeTime: new Date(at).toISOString().replace('Z', '+0000'),
    Region: region,
    Trigger: {
      MetricName: definition.metric,
      Namespace: namespace,
      Statistic: definition.statistic,
      Unit: metricUnits[definition.metric],
      Dimensions: [{ name: 'BucketName', value: bucket }],
      Period: definition.period,
      EvaluationPeriods: definition.evaluationPeriods,
      DatapointsToAlarm: definition.datapointsToAlarm,
      ComparisonOperator: definition.comparison,
      Threshold: definition.threshold,
      TreatMissingData: definition.treatMissingData,
    },
  });
}

/** Parses the output of {@link alarmMessage}. @throws DamagedItem */
export function readAlarmMessage(body: string): AlarmChange {
  const message = new StoredReader(JSON.parse(body) as Attributes, 'the message of an alarm');
  return {
    name: message.text('AlarmName'),
    state: message.text('NewStateValue'),
    before: message.text('OldStateValue'),
    reason: message.text('NewStateReason'),
  };
}
