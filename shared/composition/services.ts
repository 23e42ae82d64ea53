import type { Projects } from '../access/identity.ts';
import { Sessions } from '../access/session-tokens.ts';
import { Buckets } from '../storage/buckets/buckets.ts';
import { Contents } from '../storage/objects/contents.ts';
import { FlaggedQuotas } from '../storage/quotas/flagged-quotas.ts';
import { Manifests } from '../storage/objects/manifests.ts';
import type { ActionKind } from '../monitoring/alarm-definition.ts';
import { composeMonitoring } from '../monitoring/monitoring.ts';
import { Objects } from '../storage/objects/objects.ts';
import { PublicLinks } from '../storage/objects/public-links.ts';
import { ContentReferences } from '../storage/objects/content-references.ts';
import type { KeyedMutex } from '../storage/concurrency.ts';
import { Uploads } from '../storage/uploads/uploads.ts';
import { Usage } from '../storage/quotas/usage.ts';
import type { BlobStore } from '../ports/blob-store.ts';
import type { Clock } from '../ports/clock.ts';
import type { KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { Services, Settings } from '../protocol/operation.ts';

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
    sessions: new Sessions(adapters),
    clock,
    settings,
    logIsWritten,
  };
}
