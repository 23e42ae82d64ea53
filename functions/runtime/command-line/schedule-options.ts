import { InvalidArgumentError, type Option } from 'commander';
import { setting } from './setting.ts';

/** Returns the option that sets the length of a day of lifecycle rules. */
export function lifecycleDayOption(): Option {
  return setting(
    '--lifecycle-day-seconds <n>',
    'for tests: length of a day in lifecycle rules, in seconds',
    'LIFECYCLE_DAY_SECONDS',
    undefined,
    'a UTC day',
  ).argParser(daySeconds);
}

function daySeconds(value: string): number {
  const seconds = Number(value);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new InvalidArgumentError('Must be a positive number of seconds.');
}

/** Returns the option that lets alarms call targets without a public address. */
export function webhookAllowOption(): Option {
  return setting(
    '--alarm-webhook-allow <host:port>',
    'webhook target allowed at a non-public address (repeatable)',
    'ALARM_WEBHOOK_ALLOW',
    [],
  ).argParser((value: string, previous: readonly string[]) => [...previous, ...value.split(',').map(hostAndPort)]);
}

/** Returns the option that sets the interval of metrics and alarms. */
export function monitoringIntervalOption(): Option {
  return setting(
    '--monitoring-seconds <n>',
    'for tests: interval of metrics and alarms, in seconds',
    'MONITORING_SECONDS',
    undefined,
    '300',
  ).argParser((value: string) => {
    const seconds = Number(value);
    if (seconds > 0 && seconds <= 86_400) return seconds;
    throw new InvalidArgumentError('Must be a positive number of seconds, at most 86400 (a day).');
  });
}

function hostAndPort(text: string): string {
  const target = text.trim().toLowerCase();
  if (/^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\]):\d{1,5}$/.test(target)) return target;
  throw new InvalidArgumentError('Must be a host and a port, such as hooks.internal:443.');
}
