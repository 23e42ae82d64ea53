import { curlCommand } from '../../format/commands.ts';
import { number, size, t } from '../../messages/messages.ts';
import { alarmDocument, isInBytes, type AlarmSettings } from '../../s3/monitoring.ts';
import { config } from '../../session/session.ts';

/** Describes the condition of an alarm: `Size in bytes (Maximum) is greater than 10 GB`. */
export function conditionOf(alarm: AlarmSettings): string {
  const { metric, statistic, comparison, threshold } = alarm;
  const texts = t.value.alarms;
  return texts.condition(
    texts.metrics[metric],
    t.value.monitoring.statistics[statistic],
    texts.comparisons[comparison],
    isInBytes(alarm) ? size(threshold) : number(threshold),
  );
}

/** Describes the periods that an alarm evaluates: `2 of 3 periods of 5 minutes`. */
export function windowOf({ datapointsToAlarm, evaluationPeriods, period }: AlarmSettings): string {
  return t.value.alarms.window(number(datapointsToAlarm), number(evaluationPeriods), lengthOf(period));
}

/** Returns the command that sets an alarm. Alarms are sub-resources of Stillage, which the AWS CLI does not know. */
export function alarmCommand(bucket: string, alarm: AlarmSettings): string {
  const query = { alarm: '', name: alarm.name };
  return curlCommand(config.value!, { method: 'PUT', bucket, query, body: alarmDocument(alarm) });
}

/** Returns a length in seconds in words. */
export function lengthOf(seconds: number): string {
  const texts = t.value.alarms;
  if (seconds === 86_400) return texts.day;
  return seconds % 3_600 === 0 ? texts.hours(seconds / 3_600) : texts.minutes(seconds / 60);
}
