import { LogGroupClass } from 'aws-cdk-lib/aws-logs';
import type { Settings } from '../settings.ts';

/**
 * The class of log groups with a line for every request. Ingestion costs half as much as in the standard class, and Logs Insights, the
 * only reader, works the same. It has no metric filters, live tail or FilterLogEvents, and cannot be changed later.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CloudWatch_Logs_Log_Classes.html
 */
export const requestLogClass = LogGroupClass.INFREQUENT_ACCESS;

/** Returns the name of the log group that all functions of the API share. */
export function apiLogName(stage: string): string {
  return `/stillage/${stage}/api`;
}

export function byteLaneLogName(stage: string): string {
  return `/stillage/${stage}/byte-lane`;
}

/** Returns the log groups with a line for every request, from which requests are billed. */
export function requestLogNames({ stage, byteLane }: Pick<Settings, 'stage' | 'byteLane'>): readonly string[] {
  return [apiLogName(stage), ...(byteLane === 'fargate' ? [byteLaneLogName(stage)] : [])];
}
