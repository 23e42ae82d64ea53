import { Accounts } from '../../../shared/access/accounts.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';
import { itemKey } from '../../../shared/metadata/keys.ts';
import type { KeyedMutex } from '../../../shared/metadata/keyed-mutex.ts';
import type { Usage } from '../../../shared/metadata/quotas/usage.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import { defaultLimits, type Limits } from '../../../shared/protocol/limits.ts';
import type { Services } from '../../../shared/protocol/operation.ts';
import { composeServices } from '../compose/services.ts';
import type { DataDirectory } from './data-directory.ts';
import { managedKey } from './managed-key.ts';
import { localActionKinds } from './monitoring-schedule.ts';
import type { StartOptions } from './settings.ts';

/** What requests and background work have in common, in each process of the service on one machine. */
export interface LocalServices {
  readonly data: DataDirectory;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly accounts: Accounts;
  readonly services: Services & { readonly usage: Usage };
  readonly limits: Limits;
}

/** Composes the services over a data directory. */
export async function localServices(
  options: StartOptions,
  data: DataDirectory,
  mutex: Pick<KeyedMutex, 'run'>,
): Promise<LocalServices> {
  const clock = new SystemClock();
  const randomness = new CryptoRandomness();
  const { table, blobs, secrets } = data;
  const accounts = new Accounts({ table, secrets, clock });
  const limits = { ...defaultLimits, ...options.limit };
  const settings = {
    region: options.region,
    xmlNamespace: options.xmlNamespace,
    allUsersGroupUri: options.allUsersGroupUri,
    publicUrl: options.publicUrl,
    regions: options.allowRegion,
    limits,
    tokenKey: await tokenKey(table, randomness),
  };
  const services = composeServices(
    {
      table,
      blobs,
      clock,
      randomness,
      managedKey: await managedKey(table, secrets, randomness),
      secrets,
      mutex,
      actionKinds: localActionKinds,
    },
    { projects: accounts, settings },
  );
  return { data, clock, randomness, accounts, services, limits };
}

/** The key that binds continuation tokens to this deployment: made once. */
async function tokenKey(table: KeyValueTable, randomness: Randomness): Promise<Uint8Array> {
  const key = itemKey.deployment('token-key');
  const known = await table.get(key);
  if (known) return known['value'] as Uint8Array;
  await table.write([{ key, put: { value: randomness.bytes(32) }, expect: { is: 'absent' } }]);
  return (await table.get(key))!['value'] as Uint8Array;
}
