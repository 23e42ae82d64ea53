import { Buckets } from '../../../shared/metadata/buckets/buckets.ts';
import { composeMonitoring, type Monitoring } from '../../../shared/metadata/monitoring/monitoring.ts';
import { Notifications } from '../../../shared/metadata/monitoring/notifications.ts';
import { Usage } from '../../../shared/metadata/quotas/usage.ts';
import { localActionKinds } from '../local/monitoring-schedule.ts';
import type { Deps } from './data-deps.ts';

/** Dependencies of the commands that run monitoring. */
export interface MonitoringDeps {
  readonly monitoring: Monitoring;
  readonly notifications: Notifications;
  readonly buckets: Buckets;
  readonly usage: Usage;
}

export function monitoringDeps(deps: Deps): MonitoringDeps {
  const buckets = new Buckets(deps);
  const monitoring = composeMonitoring({ ...deps, buckets, actionKinds: localActionKinds });
  const notifications = new Notifications({ ...deps, history: monitoring.history });
  return { monitoring, notifications, buckets, usage: new Usage(deps) };
}
