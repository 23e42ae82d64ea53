import type { AlarmDefinition, AlarmState, ComparisonOperator } from './alarm-definition.ts';
import { datapoints, type Datapoint, type Point } from './statistics.ts';

/** What an alarm makes of the datapoints. */
export interface Evaluation {
  readonly state: AlarmState;
  /** Why, for people. */
  readonly reason: string;
}

/** The part of an alarm's definition that its evaluation depends on. */
export type AlarmRule = Pick<
  AlarmDefinition,
  'comparison' | 'threshold' | 'evaluationPeriods' | 'datapointsToAlarm' | 'treatMissingData'
>;

/** The datapoints of an alarm's last periods, the oldest first; undefined where one is missing. */
export type Window = readonly (Datapoint | undefined)[];

/**
 * The datapoints that an alarm judges: one for each of its periods, which follow each other without gaps up to `end`.
 * @param end milliseconds since the epoch
 */
export function alarmWindow(
  { metric, statistic, period, evaluationPeriods }: AlarmDefinition,
  points: Iterable<Point>,
  end: number,
): Window {
  const length = period * 1000;
  const origin = end - length * evaluationPeriods;
  const inside = [...points].filter(({ at }) => at >= origin && at < end);
  const found = datapoints(inside, { metric, statistic, period: length, origin });
  const byTime = new Map(found.map((datapoint) => [datapoint.at, datapoint]));
  return Array.from({ length: evaluationPeriods }, (_, at) => byTime.get(origin + at * length));
}

/**
 * Decides the state of an alarm. As soon as the datapoints that are there decide by themselves, they do: enough of them breach
 * the threshold for an alarm, or too few are left that could. Otherwise the missing ones count as the alarm says:
 *
 * - `breaching`, `notBreaching`: as that,
 * - `ignore`: the state stays,
 * - `missing`: as if they had never been expected. With no datapoint at all there is INSUFFICIENT_DATA. If those that breach began
 *   at least DatapointsToAlarm periods ago, and whatever came since is breaching or missing, it is an ALARM; if they are younger
 *   nothing is decided yet; and otherwise all is OK.
 *
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 */
export function evaluateAlarm(rule: AlarmRule, window: Window, present: AlarmState): Evaluation {
  const there = window.filter((datapoint) => datapoint !== undefined);
  const breaching = there.filter(({ value }) => breaches[rule.comparison](value, rule.threshold));
  const calm = there.length - breaching.length;
  const missing = window.length - there.length;
  const alarm = { state: 'ALARM', reason: breachReason(rule, breaching, window.length, missing) } as const;
  const ok = { state: 'OK', reason: calmReason(rule, there, window.length, missing) } as const;
  const stay = { state: present, reason: 'Unchecked: too few datapoints.' } as const;

  if (breaching.length >= rule.datapointsToAlarm) return alarm;
  if (calm > window.length - rule.datapointsToAlarm) return ok;
  switch (rule.treatMissingData) {
    case 'breaching':
      return alarm;
    case 'notBreaching':
      return ok;
    case 'ignore':
      return stay;
    case 'missing': {
      if (there.length === 0) return insufficient(`there was no datapoint in the last ${periods(window.length)}`);
      if (calm > 0) return ok;
      const oldest = window.findIndex((datapoint) => datapoint !== undefined);
      return window.length - oldest >= rule.datapointsToAlarm ? alarm : stay;
    }
  }
}

/** The state of an alarm that is not evaluated. */
export function insufficient(why: string): Evaluation {
  return { state: 'INSUFFICIENT_DATA', reason: `Insufficient data: ${why}.` };
}

const breaches: Readonly<Record<ComparisonOperator, (value: number, threshold: number) => boolean>> = {
  GreaterThanThreshold: (value, threshold) => value > threshold,
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
  LessThanOrEqualToThreshold: (value, threshold) => value <= threshold,
};

const words: Readonly<Record<ComparisonOperator, string>> = {
  GreaterThanThreshold: 'greater than',
  GreaterThanOrEqualToThreshold: 'greater than or equal to',
  LessThanThreshold: 'less than',
  LessThanOrEqualToThreshold: 'less than or equal to',
};

/** More datapoints than these are not told of. */
const toldDatapoints = 5;

function breachReason(rule: AlarmRule, breaching: readonly Datapoint[], periodCount: number, missing: number): string {
  const { comparison, threshold, treatMissingData } = rule;
  const count = treatMissingData === 'breaching' && breaching.length < rule.datapointsToAlarm ? missing : 0;
  return sentence('Threshold crossed', [
    `${breaching.length} of the last ${periodCount} datapoints${list(breaching)}` +
      ` ${breaching.length === 1 ? 'was' : 'were'} ${words[comparison]} the threshold (${threshold})`,
    ...(count > 0 ? [`${count} missing ${count === 1 ? 'one counts' : 'ones count'} as breaching`] : []),
  ]);
}

function calmReason(rule: AlarmRule, there: readonly Datapoint[], periodCount: number, missing: number): string {
  const { comparison, threshold, datapointsToAlarm } = rule;
  const calm = there.filter(({ value }) => !breaches[comparison](value, threshold));
  return sentence('Threshold not crossed', [
    `${calm.length} of the last ${periodCount} datapoints${list(calm)}` +
      ` ${calm.length === 1 ? 'was' : 'were'} not ${words[comparison]} the threshold (${threshold})`,
    ...(missing > 0 ? [`${missing} ${missing === 1 ? 'is' : 'are'} missing`] : []),
    `${datapointsToAlarm} breaching ${datapointsToAlarm === 1 ? 'one is' : 'ones are'} an alarm`,
  ]);
}

function list(told: readonly Datapoint[]): string {
  if (told.length === 0) return '';
  const last = told.slice(-toldDatapoints).map(({ at, value }) => `${value} (${new Date(at).toISOString()})`);
  return ` [${told.length > toldDatapoints ? '…, ' : ''}${last.join(', ')}]`;
}

function sentence(verdict: string, parts: readonly string[]): string {
  return `${verdict}: ${parts.join('; ')}.`;
}

function periods(count: number): string {
  return count === 1 ? 'period' : `${count} periods`;
}
