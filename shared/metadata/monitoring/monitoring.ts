import type { Clock } from '../../ports/clock.ts';
import type { KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Secrets } from '../../ports/secrets.ts';
import type { Buckets } from '../buckets/buckets.ts';
import type { ActionKind } from './alarm-definition.ts';
import { AlarmHistory } from './alarm-history.ts';
import { Alarms } from './alarms.ts';
import { MonitoredBuckets } from './monitored-buckets.ts';
import { Notifications } from './notifications.ts';
import { Samples } from './samples.ts';

/** All that monitoring is made of. */
export interface Monitoring {
  readonly buckets: MonitoredBuckets;
  readonly samples: Samples;
  readonly alarms: Alarms;
  readonly history: AlarmHistory;
  readonly notifications: Notifications;
  /** What alarms can do here. */
  readonly actionKinds: ReadonlySet<ActionKind>;
}

/** @param rooms.actionKinds what the deployment can do */
export function composeMonitoring(rooms: {
  table: KeyValueTable;
  clock: Clock;
  randomness: Randomness;
  secrets: Secrets;
  buckets: Buckets;
  actionKinds: ReadonlySet<ActionKind>;
}): Monitoring {
  const history = new AlarmHistory(rooms);
  const monitored = new MonitoredBuckets(rooms);
  return {
    buckets: monitored,
    samples: new Samples(rooms),
    alarms: new Alarms({ ...rooms, monitored, history }),
    history,
    notifications: new Notifications({ ...rooms, history }),
    actionKinds: rooms.actionKinds,
  };
}
