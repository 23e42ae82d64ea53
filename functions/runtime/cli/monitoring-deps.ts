import { Buckets } from '../../../shared/metadata/buckets/buckets.ts';
import { composeMonitoring, type Monitoring } from '../../../shared/metadata/monitoring/monitoring.ts';
import { Usage } from '../../../shared/metadata/quotas/usage.ts';
import { localActionKinds } from '../local/monitoring-schedule.ts';
import type { Rooms } from './data-deps.ts';

/** What commands about monitoring work with. */
export interface MonitoringRooms {
  readonly monitoring: Monitoring;
  readonly buckets: Buckets;
  readonly usage: Usage;
}

export function monitoringRooms(rooms: Rooms): MonitoringRooms {
  const buckets = new Buckets(rooms);
  const monitoring = composeMonitoring({ ...rooms, buckets, actionKinds: localActionKinds });
  return { monitoring, buckets, usage: new Usage(rooms) };
}
