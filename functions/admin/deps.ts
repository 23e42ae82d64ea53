import { Administration } from '../../shared/accounts/administration.ts';
import { Operators } from '../../shared/accounts/operators.ts';
import { UserPolicies } from '../../shared/accounts/user-policies.ts';
import { KeyAdministration } from '../../shared/accounts/key-administration.ts';
import { EventQueue } from '../../shared/events/event-queue.ts';
import { EventRecorder } from '../../shared/events/event-recorder.ts';
import { WebhookTargets } from '../../shared/events/webhook-targets.ts';
import { Buckets } from '../../shared/storage/buckets/buckets.ts';
import type { ActionKind } from '../../shared/monitoring/alarms/alarm-definition.ts';
import { composeMonitoring } from '../../shared/monitoring/compose-monitoring.ts';
import { Manifests } from '../../shared/storage/objects/manifests.ts';
import { Objects } from '../../shared/storage/objects/objects.ts';
import { PublicLinks } from '../../shared/storage/objects/public-links.ts';
import { Usage } from '../../shared/storage/quotas/usage.ts';
import { Uploads } from '../../shared/storage/uploads/uploads.ts';
import type { BlobStore } from '../../shared/ports/blob-store.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { KeyValueTable } from '../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../shared/ports/randomness.ts';
import type { Secrets } from '../../shared/ports/secrets.ts';
import type { Jobs } from './jobs.ts';
import type { AdministrationDeps, ServiceSettings } from './command.ts';

/** The adapters and settings of a composition root for administration. */
export interface AdministrationAdapters {
  readonly table: KeyValueTable;
  /** Not used by any command: uploads that are aborted are cleaned up by a follower of the change feed. */
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Encrypts the secrets of keys and webhooks. */
  readonly secrets: Secrets;
  /** The available alarm actions. */
  readonly actionKinds: ReadonlySet<ActionKind>;
  readonly settings: ServiceSettings;
  /** Those of the service, where one runs. */
  readonly jobs?: Jobs | undefined;
}

/** Returns the dependencies of administrative commands for these adapters. */
export function administrationDeps(adapters: AdministrationAdapters): AdministrationDeps {
  const { table, clock, settings } = adapters;
  const accounts = new Administration(adapters);
  const buckets = new Buckets(adapters);
  const recorder = new EventRecorder({ buckets });
  return {
    ...{ table, clock, settings, accounts, buckets, jobs: adapters.jobs },
    operators: new Operators(adapters, accounts),
    keys: new KeyAdministration(adapters, accounts),
    policies: new UserPolicies(adapters, accounts),
    objects: new Objects({ ...adapters, buckets, recorder }),
    uploads: new Uploads({ ...adapters, buckets, manifests: new Manifests(adapters) }),
    usage: new Usage(adapters),
    publicLinks: new PublicLinks({ ...adapters, buckets }),
    monitoring: composeMonitoring({ ...adapters, buckets }),
    webhooks: new WebhookTargets(adapters),
    eventQueue: new EventQueue(adapters),
  };
}
