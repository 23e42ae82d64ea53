import { composeServices } from '../../../functions/compose/services.ts';
import { Accounts } from '../../../shared/accounts/accounts.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import { defaultLimits } from '../../../shared/protocol/limits.ts';
import type { Services } from '../../../shared/protocol/operation.ts';
import { defaultOptions, type StartOptions } from '../../../shared/command-line/start-options.ts';
import { ExactQuotas } from '../../../shared/storage/quotas/exact-quotas.ts';
import { countedByQuota } from '../../../shared/storage/quotas/quotas.ts';
import type { DataDirectory } from '../data-directory/data-directory.ts';
import { managedKey } from '../first-start/managed-key.ts';
import { localActionKinds } from '../administration/service-settings.ts';

export interface MovingDeps extends DataDirectory {
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/**
 * Composes what a move needs of a service, over the data directory of one that may be running.
 * @param drain follows the change feed to its end
 */
export async function movingServices(
  { table, blobs, secrets, clock, randomness }: MovingDeps,
  { region, limit }: Pick<StartOptions, 'region' | 'limit'>,
  drain: () => Promise<void>,
): Promise<Services> {
  const limits = { ...defaultLimits, ...limit };
  return composeServices(
    {
      ...{ table, blobs, clock, randomness, secrets },
      managedKey: await managedKey(table, secrets, randomness),
      actionKinds: localActionKinds,
    },
    {
      projects: new Accounts({ table, secrets, clock }),
      settings: {
        region,
        xmlNamespace: defaultOptions.xmlNamespace,
        allUsersGroupUri: defaultOptions.allUsersGroupUri,
        limits,
        // Nothing here hands out tokens that last.
        tokenKey: randomness.bytes(32),
      },
      counters: (usage) => ({
        usage,
        quotas: new ExactQuotas(
          async (bucketId) => {
            await drain();
            return countedByQuota(await usage.of(bucketId));
          },
          { bytes: limits.bucketBytes, objects: limits.bucketObjects },
        ),
      }),
    },
  );
}
