import { InvalidArgumentError, type Option } from 'commander';
import { Webhooks } from '../../../shared/adapters/system/webhooks.ts';
import { samplingTime } from '../../../shared/metadata/monitoring/resolutions.ts';
import type { Notifier } from '../../../shared/ports/notifier.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { collectMetrics, type CollectionRooms } from '../../scheduled/collect-metrics.ts';
import { evaluateAlarms, type EvaluationRooms } from '../../scheduled/evaluate-alarms.ts';
import { LogNotifier, NotifierByScheme } from '../notifiers.ts';
import { onTheClock } from './schedule.ts';
import { setting } from './setting.ts';

/** What alarms can do on one machine. */
export const localActionKinds = new Set(['log', 'webhook'] as const);

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
    if (Number.isFinite(seconds) && seconds > 0) return seconds;
    throw new InvalidArgumentError('The interval is a positive number of seconds.');
  });
}

function hostAndPort(text: string): string {
  const target = text.trim().toLowerCase();
  if (/^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\]):\d{1,5}$/.test(target)) return target;
  throw new InvalidArgumentError('A target is a host and a port, such as hooks.internal:443.');
}

/** How alarms tell somebody on one machine. */
export function localNotifier(telemetry: Telemetry, allowed: readonly string[]): Notifier {
  return new NotifierByScheme({
    log: new LogNotifier(telemetry),
    https: new Webhooks({ allowed: new Set(allowed) }),
  });
}

/** Collects metrics and then evaluates alarms inside the service: at its start, and whenever five minutes are over. */
export function scheduleMonitoring(
  rooms: CollectionRooms & EvaluationRooms,
  seconds: number | undefined,
): { stop(): Promise<void> } {
  const run = async (): Promise<void> => {
    await collectMetrics(rooms);
    await evaluateAlarms(rooms);
  };
  const every = seconds === undefined ? samplingTime : seconds * 1000;
  return onTheClock(every, rooms.clock, run, rooms.telemetry, 'collecting metrics failed');
}
