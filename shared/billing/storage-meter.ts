import type { Attributes, Change, KeyValueTable } from '../ports/key-value-table.ts';
import { dayOf } from '../storage/table/keys/days.ts';
import { billingKey, billingPartition } from '../storage/table/keys/billing-keys.ts';
import { beginDay, decodeDay, encodeDay, stepOn, type Holding, type StorageDay, type Step } from './storage-day.ts';

/** The counters that steps belong to. */
export interface Metered {
  readonly project: string;
  readonly bucketId: string;
  /** The shard of the change feed. */
  readonly shardId: string;
}

/** Computes how changes of a bucket's contents change the days of the bill. It writes nothing itself. */
export class StorageMeter {
  readonly #table: KeyValueTable;

  constructor(table: KeyValueTable) {
    this.#table = table;
  }

  /**
   * Returns the change to write together with the counters of these steps, in one conditional write.
   * @param steps at least one, all of one day, in order
   * @param before the contents according to the counters; undefined if there are no counters, in which case the bill is
   * read
   */
  async change(metered: Metered, steps: readonly Step[], before: Holding | undefined): Promise<Change> {
    const { project, bucketId, shardId } = metered;
    const day = dayOf(steps[0]!.at);
    const key = billingKey.storage(project, bucketId, shardId, day);
    const stored = await this.#table.get(key);
    const begun = stored ? decodeDay(stored) : beginDay(day, before ?? (await this.#latest(metered)));
    // A scrub may have corrected the counters.
    const start: StorageDay = { ...begun, ...before };
    return { key, put: encodeDay(steps.reduce(stepOn, start)) };
  }

  async #latest({ project, bucketId, shardId }: Metered): Promise<Holding> {
    const options = { prefix: `${bucketId}/${shardId}/`, reverse: true, limit: 1 };
    const { items } = await this.#table.query(billingPartition.storage(project), options);
    const latest: Attributes | undefined = items[0]?.attributes;
    return latest ? decodeDay(latest) : { bytes: 0, objects: 0 };
  }
}
