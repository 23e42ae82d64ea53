import type { AlarmDefinition, AlarmState, ComparisonOperator } from './alarm-definition.ts';
import { datapoints, type Datapoint, type Point } from '../statistics.ts';

/** The result of evaluating an alarm. */
export interface Evaluation {
  readonly state: AlarmState;
  /** An explanation for people. */
  readonly reason: string;
}

/** The part of an alarm's definition that its evaluation depends on. */
export type AlarmRule = Pick<
  AlarmDefinition,
  'comparison' | 'threshold' | 'evaluationPeriods' | 'datapointsToAlarm' | 'treatMissingData'
>;

/** The datapoints of an alarm's last periods, oldest first; undefined where one is missing. */
export type Window = readonly (Datapoint | undefined)[];

/**
 * Returns the datapoints that an alarm evaluates, one for each of its periods. The periods are contiguous and end at
 * `end`.
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
 * Decides the state of an alarm. If the existing datapoints suffice, they decide: enough of them breach the threshold
 * for ALARM, or too few could breach it even if every missing one did. Otherwise TreatMissingData decides:
 *
 * - `breaching`, `notBreaching`: missing datapoints count as such,
 * - `ignore`: the state is kept,
 * - `missing`: missing datapoints are disregarded. Without any datapoint the state is INSUFFICIENT_DATA. If no
 *   datapoint is within the threshold and the oldest breaching one is at least DatapointsToAlarm periods old, the state
 *   is ALARM; if it is younger, the state is kept. Otherwise the state is OK.
 *
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 */
export function evaluateAlarm(rule: AlarmRule, window: Window, present: AlarmState): Evaluation {
  const existing = window.filter((datapoint) => datapoint !== undefined);
  const breaching = existing.filter(({ value }) => breaches[rule.comparison](value, rule.threshold));
  const within = existing.length - breaching.length;
  const missing = window.length - existing.length;
  const alarm = { state: 'ALARM', reason: breachReason(rule, breaching, window.length, missing) } as const;
  const ok = { state: 'OK', reason: okReason(rule, existing, window.length, missing) } as const;
  const stay = { state: present, reason: 'Unchecked: too few datapoints.' } as const;

  if (breaching.length >= rule.datapointsToAlarm) return alarm;
  if (within > window.length - rule.datapointsToAlarm) return ok;
  switch (rule.treatMissingData) {
    case 'breaching':
      return alarm;
    case 'notBreaching':
      return ok;
    case 'ignore':
      return stay;
    case 'missing': {
      if (existing.length === 0) return insufficient(`there was no datapoint in the last ${periods(window.length)}`);
      if (within > 0) return ok;
      const oldest = window.findIndex((datapoint) => datapoint !== undefined);
      return window.length - oldest >= rule.datapointsToAlarm ? alarm : stay;
    }
  }
}

/** Returns the state of an alarm that cannot be evaluated, with the reason. */
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

/** The maximum number of datapoints listed in a reason. */
const listedDatapoints = 5;

function breachReason(rule: AlarmRule, breaching: readonly Datapoint[], periodCount: number, missing: number): string {
  const { comparison, threshold, treatMissingData } = rule;
  const count = treatMissingData === 'breaching' && breaching.length < rule.datapointsToAlarm ? missing : 0;
  return sentence('Threshold crossed', [
    `${breaching.length} of the last ${periodCount} datapoints${list(breaching)}` +
      ` ${breaching.length === 1 ? 'was' : 'were'} ${words[comparison]} the threshold (${threshold})`,
    ...(count > 0 ? [`${count} missing ${count === 1 ? 'one is' : 'ones are'} treated as breaching`] : []),
  ]);
}

function okReason(rule: AlarmRule, existing: readonly Datapoint[], periodCount: number, missing: number): string {
  const { comparison, threshold, datapointsToAlarm } = rule;
  const within = existing.filter(({ value }) => !breaches[comparison](value, threshold));
  return sentence('Threshold not crossed', [
    `${within.length} of the last ${periodCount} datapoints${list(within)}` +
      ` ${within.length === 1 ? 'was' : 'were'} not ${words[comparison]} the threshold (${threshold})`,
    ...(missing > 0 ? [`${missing} ${missing === 1 ? 'is' : 'are'} missing`] : []),
    `${datapointsToAlarm} breaching ${datapointsToAlarm === 1 ? 'one is' : 'ones are'} needed for an alarm`,
  ]);
}

function list(points: readonly Datapoint[]): string {
  if (points.length === 0) return '';
  const last = points.slice(-listedDatapoints).map(({ at, value }) => `${value} (${new Date(at).toISOString()})`);
  return ` [${points.length > listedDatapoints ? '…, ' : ''}${last.join(', ')}]`;
}

function sentence(verdict: string, parts: readonly string[]): string {
  return `${verdict}: ${parts.join('; ')}.`;
}

function periods(count: number): string {
  return count === 1 ? 'period' : `${count} periods`;
}
