import type { Projects } from '../../shared/access/identity.ts';
import { Identities } from '../../shared/accounts/identities.ts';
import { ProjectRecords } from '../../shared/audit/project-records.ts';
import { LastUses } from '../../shared/accounts/key-uses.ts';
import { Sessions } from '../../shared/access/session-tokens.ts';
import { Buckets } from '../../shared/storage/buckets/buckets.ts';
import { Contents } from '../../shared/storage/objects/contents.ts';
import { EventRecorder } from '../../shared/events/event-recorder.ts';
import type { EventTargets } from '../../shared/events/event-targets.ts';
import { FlaggedQuotas } from '../../shared/storage/quotas/flagged-quotas.ts';
import { Manifests } from '../../shared/storage/objects/manifests.ts';
import type { ActionKind } from '../../shared/monitoring/alarms/alarm-definition.ts';
import { composeMonitoring } from '../../shared/monitoring/compose-monitoring.ts';
import { Objects } from '../../shared/storage/objects/objects.ts';
import { PublicLinks } from '../../shared/storage/objects/public-links.ts';
import { ContentReferences } from '../../shared/storage/objects/content-references.ts';
import type { KeyedMutex } from '../../shared/storage/concurrency.ts';
import { Uploads } from '../../shared/storage/uploads/uploads.ts';
import { Usage } from '../../shared/storage/quotas/usage.ts';
import type { BlobStore } from '../../shared/ports/blob-store.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { KeyValueTable } from '../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../shared/ports/randomness.ts';
import type { Secrets } from '../../shared/ports/secrets.ts';
import type { WebReader } from '../../shared/ports/web-reader.ts';
import { ProviderKeys } from '../../shared/signing/web-identity/provider-keys.ts';
import type { Services, Settings } from '../../shared/protocol/operation.ts';

/** The adapters of a composition root. */
export interface Adapters {
  readonly table: KeyValueTable;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Encrypts objects with SSE-S3; undefined if the blob store encrypts everything. */
  readonly managedKey: Uint8Array | undefined;
  readonly secrets: Secrets;
  /** Set if many requests run in one process. */
  readonly mutex?: Pick<KeyedMutex, 'run'>;
  /** The available alarm actions. */
  readonly actionKinds: ReadonlySet<ActionKind>;
}

/** The services that depend on the number of writing processes. */
export type Counters = Pick<Services, 'usage' | 'quotas'>;

/** Returns the counters and quotas for many writing processes: counters follow the change feed, and full buckets have a flag. */
const countersOfMany = (usage: Usage): Counters => ({ usage, quotas: new FlaggedQuotas() });

/**
 * Builds the services that operations use from these adapters.
 * @param deployment.counters builds counters and quotas from those that follow the feed. Default: those for many processes
 */
export function composeServices(
  adapters: Adapters,
  {
    projects,
    settings,
    counters = countersOfMany,
    logIsWritten,
    eventTargets,
    deliversAccessLogs,
    webReader,
  }: {
    readonly projects: Projects;
    readonly settings: Settings;
    readonly counters?: (usage: Usage) => Counters;
    readonly logIsWritten?: Services['logIsWritten'];
    readonly eventTargets?: EventTargets;
    readonly deliversAccessLogs?: boolean;
    /** Reads the keys of identity providers. */
    readonly webReader?: WebReader;
  },
): Services {
  const { blobs, clock } = adapters;
  const buckets = new Buckets(adapters);
  const manifests = new Manifests(adapters);
  const recorder = new EventRecorder({ buckets });
  return {
    buckets,
    objects: new Objects({ ...adapters, buckets, recorder }),
    uploads: new Uploads({ ...adapters, buckets, manifests }),
    contents: new Contents({ ...adapters, manifests }),
    contentReferences: new ContentReferences(adapters),
    ...counters(new Usage(adapters)),
    monitoring: composeMonitoring({ ...adapters, buckets }),
    publicLinks: new PublicLinks({ ...adapters, buckets }),
    blobs,
    projects,
    identities: new Identities(adapters),
    lastUses: new LastUses(adapters),
    projectRecords: new ProjectRecords(adapters),
    sessions: new Sessions(adapters),
    providerKeys: webReader && new ProviderKeys({ reader: webReader, clock }),
    clock,
    settings,
    logIsWritten,
    eventTargets,
    deliversAccessLogs,
  };
}
