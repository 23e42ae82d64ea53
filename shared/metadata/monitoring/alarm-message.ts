import type { Alarm } from './alarm.ts';
import type { Evaluation } from './alarm-evaluation.ts';
import { metricUnits } from './statistics.ts';

/** The namespace of all metrics, where a message says it. */
const namespace = 'Stillage';

/** What an alarm says when it has changed its state: JSON, in the form of CloudWatch's own messages. */
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
