import { readManagedSecret } from '../../../shared/adapters/cloud/secrets-manager.ts';
import { AesSecrets } from '../../../shared/adapters/system/aes-secrets.ts';
import { Buckets } from '../../../shared/storage/buckets/buckets.ts';
import { everyActionKind } from '../../../shared/monitoring/alarms/alarm-definition.ts';
import { composeMonitoring, type Monitoring } from '../../../shared/monitoring/compose-monitoring.ts';
import { Notifications } from '../../../shared/monitoring/alarms/notifications.ts';
import { Usage } from '../../../shared/storage/quotas/usage.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { deploymentKeys } from '../deployment-keys.ts';
import type { CloudDeps } from './adapters.ts';

/** The dependencies of monitoring. */
export interface MonitoringDeps extends CloudDeps {
  readonly monitoring: Monitoring;
  readonly notifications: Notifications;
  readonly buckets: Buckets;
  readonly usage: Usage;
  readonly telemetry: Telemetry;
}

/** Returns monitoring with cloud adapters. A key derived from the deployment's secret encrypts the secrets of webhooks. */
export async function monitoringDeps(deps: CloudDeps): Promise<MonitoringDeps> {
  const keys = deploymentKeys(await readManagedSecret(deps.setting('STILLAGE_SECRET')));
  const buckets = new Buckets(deps);
  const secrets = new AesSecrets(keys.sealing);
  const monitoring = composeMonitoring({ ...deps, buckets, secrets, actionKinds: everyActionKind });
  return {
    ...deps,
    monitoring,
    notifications: new Notifications({ ...deps, secrets, history: monitoring.history }),
    buckets,
    usage: new Usage(deps),
    telemetry: deps.log,
  };
}
