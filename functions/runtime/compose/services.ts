import type { Projects } from '../../../shared/access/identity.ts';
import { Buckets } from '../../../shared/metadata/buckets/buckets.ts';
import { Contents } from '../../../shared/metadata/objects/contents.ts';
import { FlaggedQuotas } from '../../../shared/metadata/quotas/flagged-quotas.ts';
import { Manifests } from '../../../shared/metadata/objects/manifests.ts';
import type { ActionKind } from '../../../shared/metadata/monitoring/alarm-definition.ts';
import { composeMonitoring } from '../../../shared/metadata/monitoring/monitoring.ts';
import { Objects } from '../../../shared/metadata/objects/objects.ts';
import { PublicLinks } from '../../../shared/metadata/objects/public-links.ts';
import { ContentReferences } from '../../../shared/metadata/objects/content-references.ts';
import type { KeyedMutex } from '../../../shared/metadata/keyed-mutex.ts';
import { Uploads } from '../../../shared/metadata/uploads/uploads.ts';
import { Usage } from '../../../shared/metadata/quotas/usage.ts';
import type { BlobStore } from '../../../shared/ports/blob-store.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import type { Secrets } from '../../../shared/ports/secrets.ts';
import type { Services, Settings } from '../../../shared/protocol/operation.ts';

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
  }: {
    readonly projects: Projects;
    readonly settings: Settings;
    readonly counters?: (usage: Usage) => Counters;
    readonly logIsWritten?: Services['logIsWritten'];
  },
): Services {
  const { blobs, clock } = adapters;
  const buckets = new Buckets(adapters);
  const manifests = new Manifests(adapters);
  return {
    buckets,
    objects: new Objects({ ...adapters, buckets }),
    uploads: new Uploads({ ...adapters, buckets, manifests }),
    contents: new Contents({ ...adapters, manifests }),
    contentReferences: new ContentReferences(adapters),
    ...counters(new Usage(adapters)),
    monitoring: composeMonitoring({ ...adapters, buckets }),
    publicLinks: new PublicLinks({ ...adapters, buckets }),
    blobs,
    projects,
    clock,
    settings,
    logIsWritten,
  };
}
