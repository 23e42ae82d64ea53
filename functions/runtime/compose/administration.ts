import { Administration } from '../../../shared/metadata/accounts/administration.ts';
import { KeyAdministration } from '../../../shared/metadata/accounts/key-administration.ts';
import { Buckets } from '../../../shared/metadata/buckets/buckets.ts';
import type { ActionKind } from '../../../shared/metadata/monitoring/alarm-definition.ts';
import { composeMonitoring } from '../../../shared/metadata/monitoring/monitoring.ts';
import { Objects } from '../../../shared/metadata/objects/objects.ts';
import { PublicLinks } from '../../../shared/metadata/objects/public-links.ts';
import { Usage } from '../../../shared/metadata/quotas/usage.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import type { Secrets } from '../../../shared/ports/secrets.ts';
import type { AdministrationDeps, ServiceSettings } from '../../admin/command.ts';

/** The adapters and settings of a composition root for administration. */
export interface AdministrationAdapters {
  readonly table: KeyValueTable;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Encrypts the secrets of keys and webhooks. */
  readonly secrets: Secrets;
  /** The available alarm actions. */
  readonly actionKinds: ReadonlySet<ActionKind>;
  readonly settings: ServiceSettings;
}

/** Returns the dependencies of administrative commands for these adapters. */
export function administrationDeps(adapters: AdministrationAdapters): AdministrationDeps {
  const { table, clock, settings } = adapters;
  const accounts = new Administration(adapters);
  const buckets = new Buckets(adapters);
  return {
    ...{ table, clock, settings, accounts, buckets },
    keys: new KeyAdministration(adapters, accounts),
    objects: new Objects({ ...adapters, buckets }),
    usage: new Usage(adapters),
    publicLinks: new PublicLinks({ ...adapters, buckets }),
    monitoring: composeMonitoring({ ...adapters, buckets }),
  };
}
