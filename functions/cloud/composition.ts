import { Accounts } from '../../shared/accounts/accounts.ts';
import { KeyUses } from '../../shared/accounts/key-uses.ts';
import { DynamoDbTable } from '../../shared/adapters/cloud/dynamodb/dynamodb-table.ts';
import { readManagedSecret, readNewestValues } from '../../shared/adapters/cloud/secrets-manager.ts';
import { AesSecrets } from '../../shared/adapters/system/aes-secrets.ts';
import { Webhooks } from '../../shared/adapters/system/webhooks.ts';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { checkLayout, claimLayout } from '../../shared/storage/table/layout.ts';
import { everyActionKind } from '../../shared/monitoring/alarms/alarm-definition.ts';
import { defaultLimits } from '../../shared/protocol/limits.ts';
import type { AnyOperation } from '../../shared/protocol/operation.ts';
import { auditedOperations } from '../../shared/protocol/audited.ts';
import { Pipeline } from '../../shared/protocol/pipeline.ts';
import type { OperationName } from '../../shared/protocol/operation-table.ts';
import type { Telemetry } from '../../shared/ports/telemetry.ts';
import { NoBlobs, type CloudBlobsClass } from './blobs.ts';
import type { CloudSettings } from './settings.ts';
import { cloudAuditLog } from './cloud-audit-log.ts';
import { deploymentKeys } from './deployment-keys.ts';
import { OriginSecret } from './origin-secret.ts';
import { ChargedTelemetry, logUse } from '../../shared/telemetry/charged-telemetry.ts';
import { cloudLog, type Log } from '../../shared/telemetry/log.ts';
import { requestIds } from '../../shared/node-http/request-ids.ts';
import { composeServices } from '../compose/services.ts';

/** The service of a process in the cloud, without a transport. */
export interface CloudService {
  readonly pipeline: Pipeline;
  readonly log: Log;
  /** Recognises requests that came through the distribution. */
  readonly edge: OriginSecret;
  /** Returns a new request id. */
  readonly requestId: () => string;
  /** Writes what was taken down of changes of identities, rights and settings. Never rejects. */
  readonly writeAudit: () => Promise<void>;
  /** Checks that table and blobs answer. @throws Error that names the one that does not */
  check(): Promise<void>;
  /** Closes the connections to table and blobs. */
  close(): Promise<void>;
}

/**
 * Composes the service on DynamoDB and S3, with the operations that this process serves.
 * @param Blobs undefined: none of the operations needs blobs
 * @param requestsTo returns where requests are recorded so that they are charged. Default: each is a line of the log
 */
export async function startCloudService(
  settings: CloudSettings,
  operations: ReadonlyMap<OperationName, AnyOperation>,
  Blobs: CloudBlobsClass | undefined,
  requestsTo: (log: Log) => Telemetry = (log) => new ChargedTelemetry(log),
): Promise<CloudService> {
  const log = cloudLog(process.stdout);
  const randomness = new CryptoRandomness();
  const table = new DynamoDbTable({ tableName: settings.table, callTimeout: settings.tableTimeout, telemetry: log });
  const writes = [...operations.values()].some(({ needs }) => needs.table === 'write');
  const [secret, edgeSecret] = await Promise.all([
    readManagedSecret(settings.secret),
    readManagedSecret(settings.edgeSecret),
    writes ? claimLayout({ table, randomness }) : checkLayout(table, 'read'),
  ]);
  const keys = deploymentKeys(secret);
  const clock = new SystemClock();
  const read = (): Promise<readonly string[]> => readNewestValues(settings.edgeSecret);
  const edge = new OriginSecret({ secret: edgeSecret, read, clock, telemetry: log });
  const blobs = Blobs ? new Blobs({ bucket: settings.blobBucket }) : new NoBlobs();
  const secrets = new AesSecrets(keys.sealing);
  const accounts = new Accounts({ table, secrets, clock });
  const { region, domain, websiteDomain, xmlNamespace, allUsersGroupUri, publicUrl, regions, customerKeys } = settings;

  const requestId = requestIds(randomness);
  const services = composeServices(
    { table, blobs, clock, randomness, managedKey: undefined, secrets, actionKinds: everyActionKind },
    {
      projects: accounts,
      webReader: new Webhooks({ allowed: new Set() }),
      settings: {
        region,
        xmlNamespace,
        allUsersGroupUri,
        ...{ publicUrl, regions, customerKeys },
        limits: { ...defaultLimits, ...settings.limits },
        tokenKey: keys.tokens,
      },
    },
  );
  // Who may not write changes nothing.
  const audit =
    writes && isAudited(operations) ? cloudAuditLog({ table, clock, randomness, log }, settings) : undefined;
  const pipeline = new Pipeline({
    services,
    audit,
    operations,
    accessKeys: accounts,
    keyUses: new KeyUses({ clock, note: (use, user) => logUse(log, use, user) }),
    telemetry: requestsTo(log),
    hostNames: { domain, websiteDomain },
    signing: { version2: settings.signatureV2, ...(settings.strictRegion && { strictRegion: region }) },
    consoleOrigins: settings.consoleOrigins,
    requestId,
    hostId: Buffer.from(randomness.bytes(12)).toString('base64url'),
  });
  const check = async (): Promise<void> => {
    await Promise.all([services.buckets.check(), services.blobs.check()]);
  };
  const close = async (): Promise<void> => {
    await table.close();
    blobs.close();
  };
  const writeAudit = async (): Promise<void> => audit?.flush();
  return { pipeline, log, edge, requestId, writeAudit, check, close };
}

/** Tells whether one of these operations is taken down: none of the byte lane's is. */
function isAudited(operations: ReadonlyMap<OperationName, AnyOperation>): boolean {
  return [...operations.keys()].some((name) => auditedOperations.has(name) || name === 'Iam' || name === 'Sts');
}
