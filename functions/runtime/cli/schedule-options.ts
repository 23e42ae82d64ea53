import { InvalidArgumentError, type Option } from 'commander';
import { setting } from './setting.ts';

/** The option by which a day of lifecycle rules gets another length. */
export function lifecycleDayOption(): Option {
  return setting(
    '--lifecycle-day-seconds <n>',
    'a day of lifecycle rules lasts so many seconds, and ends at any time: for tests',
    'LIFECYCLE_DAY_SECONDS',
  ).argParser(daySeconds);
}

function daySeconds(value: string): number {
  const seconds = Number(value);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new InvalidArgumentError('A day has a positive number of seconds.');
}

/** The option that lets alarms call targets which are not on the Internet. */
export function webhookAllowOption(): Option {
  return setting(
    '--alarm-webhook-allow <host:port>',
    'let alarms call this target wherever it lies (repeatable); others must have public addresses',
    'ALARM_WEBHOOK_ALLOW',
    [],
  ).argParser((value: string, previous: readonly string[]) => [...previous, ...value.split(',').map(hostAndPort)]);
}

/** The option by which metrics are collected and alarms evaluated more often. */
export function monitoringIntervalOption(): Option {
  return setting(
    '--monitoring-seconds <n>',
    'collect metrics and evaluate alarms every so many seconds: for tests',
    'MONITORING_SECONDS',
  ).argParser((value: string) => {
    const seconds = Number(value);
    if (seconds > 0 && seconds <= 86_400) return seconds;
    throw new InvalidArgumentError('The interval is a number of seconds, at most a day.');
  });
}

function hostAndPort(text: string): string {
  const target = text.trim().toLowerCase();
  if (/^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\]):\d{1,5}$/.test(target)) return target;
  throw new InvalidArgumentError('A target is a host and a port, such as hooks.internal:443.');
}
