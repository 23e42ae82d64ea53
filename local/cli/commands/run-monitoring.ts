import type { Command } from 'commander';
import { Manifests } from '../../../shared/storage/objects/manifests.ts';
import { Uploads } from '../../../shared/storage/uploads/uploads.ts';
import { collectMetrics } from '../../../shared/monitoring/collect-metrics.ts';
import { evaluateAlarms } from '../../../shared/monitoring/alarms/evaluate-alarms.ts';
import { Log } from '../../../shared/telemetry/log.ts';
import { localActionKinds } from '../../server/administration/service-settings.ts';
import { localNotifier } from '../../server/schedules/monitoring-schedule.ts';
import { startOption } from '../../../shared/command-line/option.ts';
import { localVerb } from '../command.ts';
import type { Deps } from '../data-deps.ts';
import { followingTheFeed } from '../following-the-feed.ts';
import { count, recordReport, type Report } from '../../../shared/command-line/report.ts';
import { Buckets } from '../../../shared/storage/buckets/buckets.ts';
import { composeMonitoring, type Monitoring } from '../../../shared/monitoring/compose-monitoring.ts';
import { Notifications } from '../../../shared/monitoring/alarms/notifications.ts';
import { Usage } from '../../../shared/storage/quotas/usage.ts';

/** The interval between two lines of progress on standard error, in milliseconds. */
const tellEvery = 1000;

/** Returns `stillage run collect-metrics`. */
export function collectMetricsCommand(): Command {
  return localVerb({
    name: 'collect-metrics',
    does: 'Sample the size of monitored buckets, replacing their latest sample',
    examples: ['run collect-metrics'],
    act: collect,
  });
}

async function collect(deps: Deps): Promise<Report> {
  const { monitoring, buckets, usage } = monitoringDeps(deps);
  const telemetry = new Log(process.stderr);
  const uploads = new Uploads({ ...deps, buckets, manifests: new Manifests(deps) });
  const tell = sparingly(({ sampled }: { readonly sampled: number }) => `${count(sampled, 'bucket')} sampled`);
  const done = await followingTheFeed(deps, uploads, (drain) => {
    const exact = { of: (bucketId: string) => drain().then(() => usage.of(bucketId)) };
    return collectMetrics({ monitoring, buckets, usage: exact, clock: deps.clock, telemetry }, tell);
  }).finally(() => telemetry.flush());
  return recordReport(done, [
    ['sampled', count(done.sampled, 'bucket')],
    ['failed', done.failed === 0 ? undefined : count(done.failed, 'bucket')],
  ]);
}

/** Returns `stillage run evaluate-alarms`. */
export function evaluateAlarmsCommand(): Command {
  return localVerb<{ region: string; alarmWebhookAllow: readonly string[] }>({
    name: 'evaluate-alarms',
    does: 'Evaluate the alarms of monitored buckets and run their actions',
    options: [startOption('alarmWebhookAllow'), startOption('region', 'region named in notifications')],
    examples: ['run evaluate-alarms'],
    act: (deps, _, options) => evaluate(deps, options),
  });
}

async function evaluate(
  deps: Deps,
  { region, alarmWebhookAllow }: { readonly region: string; readonly alarmWebhookAllow: readonly string[] },
): Promise<Report> {
  const { monitoring, notifications, buckets } = monitoringDeps(deps);
  const telemetry = new Log(process.stderr);
  const notifier = localNotifier(telemetry, alarmWebhookAllow);
  const tell = sparingly(({ alarms }: { readonly alarms: number }) => `${count(alarms, 'alarm')} evaluated`);
  try {
    const done = await evaluateAlarms(
      { monitoring, notifications, buckets, notifier, clock: deps.clock, telemetry, region },
      tell,
    );
    return recordReport(done, [
      ['evaluated', count(done.alarms, 'alarm')],
      ['changed', count(done.changed, 'alarm')],
      ['actions', String(done.deliveries)],
      ['failed', done.failed === 0 ? undefined : count(done.failed, 'bucket')],
    ]);
  } finally {
    telemetry.flush();
  }
}

/** Returns a function that writes progress to standard error, at most once a second. */
function sparingly<Progress>(line: (progress: Progress) => string): (progress: Progress) => void {
  let toldAt = Date.now();
  return (progress) => {
    if (Date.now() - toldAt < tellEvery) return;
    toldAt = Date.now();
    process.stderr.write(`${line(progress)}\n`);
  };
}

/** Dependencies of the commands that run monitoring. */
interface MonitoringDeps {
  readonly monitoring: Monitoring;
  readonly notifications: Notifications;
  readonly buckets: Buckets;
  readonly usage: Usage;
}

function monitoringDeps(deps: Deps): MonitoringDeps {
  const buckets = new Buckets(deps);
  const monitoring = composeMonitoring({ ...deps, buckets, actionKinds: localActionKinds });
  const notifications = new Notifications({ ...deps, history: monitoring.history });
  return { monitoring, notifications, buckets, usage: new Usage(deps) };
}
