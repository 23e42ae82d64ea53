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
import type { StartOptions } from './settings.ts';

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
    if (seconds > 0 && seconds <= 86_400) return seconds;
    throw new InvalidArgumentError('The interval is a number of seconds, at most a day.');
  });
}

function hostAndPort(text: string): string {
  const target = text.trim().toLowerCase();
  if (/^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\]):\d{1,5}$/.test(target)) return target;
  throw new InvalidArgumentError('A target is a host and a port, such as hooks.internal:443.');
}

/** How alarms tell somebody on one machine. */
export function localNotifier(telemetry: Telemetry, allowed: readonly string[], stopping?: AbortSignal): Notifier {
  return new NotifierByScheme({
    log: new LogNotifier(telemetry),
    https: new Webhooks({ allowed: new Set(allowed), ...(stopping && { stopping }) }),
  });
}

/**
 * Collects metrics and then evaluates alarms inside the service: at its start, and whenever five minutes are over. A webhook that
 * takes its time keeps nobody from collecting, nor the service from stopping: what was broken off is delivered later.
 */
export function scheduleMonitoring(
  rooms: CollectionRooms & Omit<EvaluationRooms, 'notifier'>,
  { monitoringSeconds: seconds, alarmWebhookAllow }: Pick<StartOptions, 'monitoringSeconds' | 'alarmWebhookAllow'>,
): { stop(): Promise<void> } {
  const { telemetry } = rooms;
  const stopping = new AbortController();
  const notifier = localNotifier(telemetry, alarmWebhookAllow, stopping.signal);
  let evaluation: Promise<void> | undefined;
  const evaluate = async (): Promise<void> => {
    try {
      await evaluateAlarms({ ...rooms, notifier });
    } catch (error) {
      if (!stopping.signal.aborted) telemetry.problem('evaluating alarms failed', error);
    }
    evaluation = undefined;
  };
  const run = async (): Promise<void> => {
    await collectMetrics(rooms);
    evaluation ??= evaluate();
  };
  const every = seconds === undefined ? samplingTime : seconds * 1000;
  const schedule = onTheClock(every, rooms.clock, run, telemetry, 'collecting metrics failed');
  return {
    stop: async () => {
      stopping.abort();
      await schedule.stop();
      await evaluation;
    },
  };
}
