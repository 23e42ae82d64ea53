import { LogGroupClass } from 'aws-cdk-lib/aws-logs';
import type { Settings } from './settings.ts';

/**
 * The class of logs with a line for every request: half the price of the standard one for what comes in, and Logs Insights, all that
 * is asked of them, works alike. It has no metric filters, live tail or FilterLogEvents, and cannot be changed later.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CloudWatch_Logs_Log_Classes.html
 */
export const requestLogClass = LogGroupClass.INFREQUENT_ACCESS;

/** Functions of the API share one log, so that one place has all their requests. */
export function apiLogName(stage: string): string {
  return `/stillage/${stage}/api`;
}

export function byteLaneLogName(stage: string): string {
  return `/stillage/${stage}/byte-lane`;
}

/** The log groups that have a line for every request: what the bill is made of. */
export function requestLogNames({ stage, byteLane }: Pick<Settings, 'stage' | 'byteLane'>): readonly string[] {
  return [apiLogName(stage), ...(byteLane === 'fargate' ? [byteLaneLogName(stage)] : [])];
}
