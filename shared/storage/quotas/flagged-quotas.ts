import type { FeedRecord, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Buckets } from '../buckets/buckets.ts';
import * as keyParts from '../table/keys/key-parts.ts';
import { itemKey } from '../table/keys/keys.ts';
import type { Amount } from '../amount.ts';
import {
  countedByQuota,
  isMet,
  quotaExceeded,
  quotaOf,
  type LimitedBucket,
  type Quotas,
  type Reservation,
} from './quotas.ts';
import type { Usage } from './usage.ts';

/**
 * Quotas for several writing processes: a follower of the change feed flags full buckets, and writers check the flag,
 * as they read the bucket anyway. Writes made before the flag is set can exceed the quota.
 */
export class FlaggedQuotas implements Quotas {
  async reserve(bucket: LimitedBucket): Promise<Reservation> {
    if (bucket.full) throw quotaExceeded(bucket);
    return unlimited;
  }
}

const unlimited: Reservation = { add: async () => undefined, release: () => undefined };

/** Sets and clears the flag. Follows the feed after the usage counters have counted the same records. */
export class FullBuckets {
  readonly #table: KeyValueTable;
  readonly #buckets: Buckets;
  readonly #usage: Pick<Usage, 'of'>;
  readonly #defaults: Amount;

  constructor(deps: { table: KeyValueTable; buckets: Buckets; usage: Pick<Usage, 'of'>; defaults: Amount }) {
    this.#table = deps.table;
    this.#buckets = deps.buckets;
    this.#usage = deps.usage;
    this.#defaults = deps.defaults;
  }

  async follow(records: readonly FeedRecord[]): Promise<void> {
    const ids = records.map(
      ({ key, old, new: present }) => keyParts.version(key)?.bucketId ?? (present ?? old)?.['bucketId'],
    );
    for (const id of new Set(ids)) if (typeof id === 'string') await this.#updateFlag(id);
  }

  async #updateFlag(bucketId: string): Promise<void> {
    const named = await this.#table.get(itemKey.bucketName(bucketId));
    if (named === undefined) return;
    for (;;) {
      const bucket = await this.#buckets.find(named['name'] as string);
      if (bucket?.id !== bucketId) return;
      const used = countedByQuota(await this.#usage.of(bucketId));
      const full = isMet(quotaOf(bucket, this.#defaults), used);
      if (full === bucket.full) return;
      // Checks again afterwards: the follower of another shard may have counted more meanwhile, and seen the former flag.
      await this.#buckets.setFull(bucket.name, bucketId, full);
    }
  }
}
