import type { Clock } from '../../ports/clock.ts';
import { day, minute } from '../../ports/durations.ts';
import type { Change, ItemKey, KeyValueTable } from '../../ports/key-value-table.ts';
import * as keyParts from '../table/keys/key-parts.ts';
import { currentVersionPartitions, partition } from '../table/keys/keys.ts';
import { monitoringKey, monitoringPartition } from '../table/keys/monitoring-keys.ts';
import { partitionItems } from '../table/pages.ts';
import { settled } from '../table/settled.ts';
import type { Uploads } from '../uploads/uploads.ts';
import type { Objects } from '../objects/objects.ts';

/** The time of the first sweep, by which every writer that committed to a bucket during its removal has undone that, or crashed. */
const firstSweep = 10 * minute;
const lastSweep = day;

/** Removes what is left of deleted buckets: uploads, documents, counters, and writes not fully undone. */
export class BucketPurge {
  readonly #table: KeyValueTable;
  readonly #uploads: Uploads;
  readonly #clock: Clock;
  readonly #objects: Pick<Objects, 'remove'>;

  constructor(deps: { table: KeyValueTable; objects: Pick<Objects, 'remove'>; uploads: Uploads; clock: Clock }) {
    this.#table = deps.table;
    this.#uploads = deps.uploads;
    this.#clock = deps.clock;
    this.#objects = deps.objects;
  }

  /**
   * Purges the buckets whose tombstones are due, and drops tombstones after their last sweep.
   * @param stopping returns whether to start no further bucket
   */
  async sweep(stopping: () => boolean = () => false): Promise<void> {
    const now = this.#clock.now();
    for await (const { key, attributes } of partitionItems(this.#table, partition.tombstones, { limit: 100 })) {
      const { time, bucketId } = keyParts.tombstone(key);
      const age = now - time;
      if (age < firstSweep || stopping()) return;
      const left = await this.#sweepBucket(bucketId, attributes['project'] as string);
      if (age > lastSweep && !left) await settled(this.#table.write([{ key, delete: true }]));
    }
  }

  /** @returns whether versions are left: locked ones, or of damaged keys */
  async #sweepBucket(bucketId: string, project: string): Promise<boolean> {
    let left = false;
    for (const shard of currentVersionPartitions(bucketId)) if (await this.#removeKeys(bucketId, shard)) left = true;
    await this.#uploads.abortAll(bucketId);
    const kept = [
      partition.documents(bucketId),
      partition.lifecycleBounds(bucketId),
      partition.lifecycleRechecks(bucketId),
      partition.usage(bucketId),
      monitoringPartition.samples(bucketId),
    ];
    for (const pk of kept) await this.#clear(pk);
    await this.#sweepAlarms(bucketId, project);
    return left;
  }

  /** A damaged or locked key stays, so each page begins after the last one. */
  async #removeKeys(bucketId: string, shard: string): Promise<boolean> {
    let left = false;
    for await (const { key } of partitionItems(this.#table, shard)) {
      const { currentVersion } = await this.#objects.remove({ by: 'purge', bucketId, key: key.sk });
      if (currentVersion) left = true;
    }
    return left;
  }

  /** Releases the names of alarms, which belong to the project, unless another bucket uses them now. */
  async #sweepAlarms(bucketId: string, project: string): Promise<void> {
    await this.#clear(monitoringPartition.alarms(bucketId), ({ sk }) => {
      const key = monitoringKey.alarmName(project, sk);
      return { key, delete: true, expect: { is: 'equal', attribute: 'bucketId', value: bucketId } };
    });
    await this.#clear(monitoringPartition.history(bucketId));
    await settled(this.#table.write([{ key: monitoringKey.monitored(bucketId), delete: true }]));
  }

  /**
   * Removes a partition, item by item.
   * @param before returns the change to make before an item is removed
   */
  async #clear(pk: string, before?: (key: ItemKey) => Change): Promise<void> {
    for (let more = true; more;) {
      const page = await this.#table.query(pk, { limit: 100 });
      for (const { key } of page.items) {
        if (before) await settled(this.#table.write([before(key)]));
        await settled(this.#table.write([{ key, delete: true }]));
      }
      more = page.more;
    }
  }
}
