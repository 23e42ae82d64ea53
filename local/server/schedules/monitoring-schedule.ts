import { Webhooks } from '../../../shared/adapters/system/webhooks.ts';
import { samplingTime } from '../../../shared/monitoring/resolutions.ts';
import type { Notifier } from '../../../shared/ports/notifier.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { collectMetrics, type CollectionDeps } from '../../../shared/monitoring/collect-metrics.ts';
import { evaluateAlarms, type EvaluationDeps } from '../../../shared/monitoring/alarms/evaluate-alarms.ts';
import { LogNotifier, NotifierByScheme } from '../../../shared/telemetry/notifiers.ts';
import { onTheClock } from './schedule.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';

/** Returns the notifier for alarm actions on one machine. */
export function localNotifier(telemetry: Telemetry, allowed: readonly string[], stopping?: AbortSignal): Notifier {
  return new NotifierByScheme({
    log: new LogNotifier(telemetry),
    https: new Webhooks({ allowed: new Set(allowed), ...(stopping && { stopping }) }),
  });
}

/**
 * Collects metrics and then evaluates alarms within the service, at its start and every five minutes. A slow webhook delays neither
 * the next collection nor a stop of the service; an interrupted delivery is repeated later.
 */
export function scheduleMonitoring(
  deps: CollectionDeps & Omit<EvaluationDeps, 'notifier'>,
  { monitoringSeconds: seconds, alarmWebhookAllow }: Pick<StartOptions, 'monitoringSeconds' | 'alarmWebhookAllow'>,
): { stop(): Promise<void> } {
  const { telemetry } = deps;
  const stopping = new AbortController();
  const notifier = localNotifier(telemetry, alarmWebhookAllow, stopping.signal);
  let evaluation: Promise<void> | undefined;
  const evaluate = async (): Promise<void> => {
    try {
      await evaluateAlarms({ ...deps, notifier });
    } catch (error) {
      if (!stopping.signal.aborted) telemetry.problem('evaluating alarms failed', error);
    }
    evaluation = undefined;
  };
  const run = async (): Promise<void> => {
    await collectMetrics(deps);
    evaluation ??= evaluate();
  };
  const every = seconds === undefined ? samplingTime : seconds * 1000;
  const schedule = onTheClock(every, deps.clock, run, telemetry, 'collecting metrics failed');
  return {
    stop: async () => {
      stopping.abort();
      await schedule.stop();
      await evaluation;
    },
  };
}
