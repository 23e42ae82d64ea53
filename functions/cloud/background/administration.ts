import { readManagedSecret } from '../../../shared/adapters/cloud/secrets-manager.ts';
import { AesSecrets } from '../../../shared/adapters/system/aes-secrets.ts';
import type { AuditLog } from '../../../shared/audit/audit-log.ts';
import { everyActionKind } from '../../../shared/monitoring/alarms/alarm-definition.ts';
import type { Secrets } from '../../../shared/ports/secrets.ts';
import { defaultLimits, type Limits } from '../../../shared/protocol/limits.ts';
import type { AdministrationDeps } from '../../admin/command.ts';
import { administrationDeps } from '../../admin/deps.ts';
import { cloudAuditLog } from '../cloud-audit-log.ts';
import { deploymentKeys } from '../deployment-keys.ts';
import type { CloudDeps } from './adapters.ts';

/** What a function that administers a deployment works with. */
interface CloudAdministration {
  readonly administration: AdministrationDeps;
  readonly secrets: Secrets;
  /** Undefined: no log is kept. */
  readonly audit: AuditLog | undefined;
}

/** Composes it from the environment of a function. @throws Error that names a missing setting */
export async function administrationOf(cloud: CloudDeps): Promise<CloudAdministration> {
  const secrets = new AesSecrets(deploymentKeys(await readManagedSecret(cloud.setting('STILLAGE_SECRET'))).sealing);
  const endpoint = cloud.setting('STILLAGE_ENDPOINT');
  const administration = administrationDeps({
    ...cloud,
    secrets,
    actionKinds: everyActionKind,
    settings: {
      limits: { ...defaultLimits, ...(JSON.parse(cloud.setting('STILLAGE_LIMITS')) as Partial<Limits>) },
      endpoint,
      publicUrl: process.env['STILLAGE_PUBLIC_URL'] ?? endpoint,
      region: cloud.setting('STILLAGE_REGION'),
      // Those of data would make the byte lane write as well.
      auditsData: false,
    },
  });
  const auditDays = Number(process.env['STILLAGE_AUDIT_DAYS'] ?? 0);
  const auditStrict = process.env['STILLAGE_AUDIT_STRICT'] === 'true';
  return { administration, secrets, audit: cloudAuditLog(cloud, { auditDays, auditStrict }) };
}
