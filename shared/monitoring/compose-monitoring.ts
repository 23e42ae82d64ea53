import type { Clock } from '../ports/clock.ts';
import type { KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { Buckets } from '../storage/buckets/buckets.ts';
import type { ActionKind } from './alarms/alarm-definition.ts';
import { AlarmHistory } from './alarms/alarm-history.ts';
import { Alarms } from './alarms/alarms.ts';
import { MonitoredBuckets } from './monitored-buckets.ts';
import { Samples } from './samples.ts';

/** The repositories of monitoring, except `Notifications`, which is composed where alarms are evaluated. */
export interface Monitoring {
  readonly buckets: MonitoredBuckets;
  readonly samples: Samples;
  readonly alarms: Alarms;
  readonly history: AlarmHistory;
  /** The action kinds that this deployment supports. */
  readonly actionKinds: ReadonlySet<ActionKind>;
}

/**
 * Composes the repositories of monitoring.
 * @param deps.actionKinds the action kinds that the deployment supports
 */
export function composeMonitoring(deps: {
  table: KeyValueTable;
  clock: Clock;
  randomness: Randomness;
  secrets: Secrets;
  buckets: Buckets;
  actionKinds: ReadonlySet<ActionKind>;
}): Monitoring {
  const history = new AlarmHistory(deps);
  const monitored = new MonitoredBuckets(deps);
  return {
    buckets: monitored,
    samples: new Samples(deps),
    alarms: new Alarms({ ...deps, monitored, history }),
    history,
    actionKinds: deps.actionKinds,
  };
}
