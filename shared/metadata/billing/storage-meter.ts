import type { Attributes, Change, KeyValueTable } from '../../ports/key-value-table.ts';
import { dayOf } from '../days.ts';
import { billingKey, billingPartition } from '../table/billing-keys.ts';
import { beginDay, decodeDay, encodeDay, stepOn, type Holding, type StorageDay, type Step } from './storage-day.ts';

/** Whose steps they are. */
export interface Metered {
  readonly project: string;
  readonly bucketId: string;
  /** Of the change feed. */
  readonly shardId: string;
}

/** Says how the steps of what is held change the days of the bill. It writes nothing itself. */
export class StorageMeter {
  readonly #table: KeyValueTable;

  constructor(table: KeyValueTable) {
    this.#table = table;
  }

  /**
   * What must be written with the counters of these steps, in one write that happens if nobody has counted meanwhile.
   * @param steps of one day, at least one, in order
   * @param before what the counters say was held; undefined: there are none, so the bill says it
   */
  async change(metered: Metered, steps: readonly Step[], before: Holding | undefined): Promise<Change> {
    const { project, bucketId, shardId } = metered;
    const day = dayOf(steps[0]!.at);
    const key = billingKey.storage(project, bucketId, shardId, day);
    const stored = await this.#table.get(key);
    const begun = stored ? decodeDay(stored) : beginDay(day, before ?? (await this.#latest(metered)));
    // A scrub may have set the counters right.
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
