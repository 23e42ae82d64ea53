import type { Clock } from '../../ports/clock.ts';
import type { Attributes, Change, Condition, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { BucketAuthorisation } from '../buckets/authorisation.ts';
import type { Buckets } from '../buckets/buckets.ts';
import { writeToken } from '../table/ids.ts';
import { monitoringKey, monitoringPartition } from '../table/monitoring-keys.ts';
import { conflict, jitter, optimistically, slowDown } from '../table/optimistic-write.ts';

/** A bucket that has, or once had, monitoring. */
export interface MonitoredBucket {
  readonly bucketId: string;
  readonly bucket: string;
  readonly project: string;
  readonly status: 'on' | 'off';
  /** How many alarms it has. */
  readonly alarms: number;
  /** Monitoring was turned off, and not all alarms have been told yet. */
  readonly pausing: boolean;
  readonly token: string;
}

const pageSize = 100;

/**
 * Which buckets have monitoring. The item that says so is at the same time the entry of the bucket in the list that the
 * scheduled functions go by, so they never look at any other bucket.
 */
export class MonitoredBuckets {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #buckets: Buckets;

  constructor(deps: { table: KeyValueTable; clock: Clock; randomness: Randomness; buckets: Buckets }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
    this.#buckets = deps.buckets;
  }

  async isOn(bucketId: string): Promise<boolean> {
    return (await this.find(bucketId))?.status === 'on';
  }

  async find(bucketId: string): Promise<MonitoredBucket | undefined> {
    const item = await this.#table.get(monitoringKey.monitored(bucketId));
    return item && decodeMonitored(bucketId, item);
  }

  /**
   * Turns monitoring on or off.
   * @returns the entry as it is now; undefined if the bucket never had monitoring and is to have none
   * @throws S3Error NoSuchBucket, SlowDown
   */
  async turn(authorisation: BucketAuthorisation, status: 'on' | 'off'): Promise<MonitoredBucket | undefined> {
    let { bucket } = authorisation;
    return optimistically(async (attempt) => {
      bucket = await this.#buckets.readyFor(bucket);
      const present = await this.find(bucket.id);
      if (present?.status === status || (present === undefined && status === 'off')) return present;
      const next = {
        bucketId: bucket.id,
        bucket: bucket.name,
        project: bucket.project,
        status,
        alarms: present?.alarms ?? 0,
        pausing: status === 'off' && present !== undefined && present.alarms > 0,
        token: writeToken(this.#randomness),
      };
      const conditions = this.#buckets.exactConditions(bucket, await authorisation.confirm(bucket));
      const { outcome } = await this.#table.write([this.change(present, next)], conditions);
      if (outcome === 'written') return next;
      await this.#clock.sleep(jitter(attempt, this.#randomness));
      bucket = this.#buckets.stale(bucket);
      return conflict;
    }, slowDown);
  }

  /** Notes that all alarms know by now that monitoring is off. */
  async paused(entry: MonitoredBucket): Promise<void> {
    await this.#table.write([this.change(entry, { ...entry, pausing: false })]);
  }

  /** Every entry, page by page. */
  async *all(): AsyncGenerator<MonitoredBucket> {
    let after: string | undefined;
    for (;;) {
      const { items, more } = await this.#table.query(monitoringPartition.monitored, {
        limit: pageSize,
        ...(after !== undefined && { after }),
      });
      for (const { key, attributes } of items) yield decodeMonitored(key.sk, attributes);
      after = items.at(-1)?.key.sk;
      if (!more || after === undefined) return;
    }
  }

  /** The change from one state of an entry to another, on condition that it is still as it was read. */
  change(present: MonitoredBucket | undefined, next: MonitoredBucket): Change {
    return {
      key: monitoringKey.monitored(next.bucketId),
      put: {
        bucket: next.bucket,
        project: next.project,
        status: next.status,
        alarms: next.alarms,
        ...(next.pausing && { pausing: true }),
        r: writeToken(this.#randomness),
      },
      expect: present === undefined ? { is: 'absent' } : { is: 'equal', attribute: 'r', value: present.token },
    };
  }
}

/** What must hold for an alarm to change its state by itself. */
export function isMonitored(bucketId: string): Condition {
  return {
    key: monitoringKey.monitored(bucketId),
    expect: { is: 'equal', attribute: 'status', value: 'on' },
  };
}

export function decodeMonitored(bucketId: string, item: Attributes): MonitoredBucket {
  return {
    bucketId,
    bucket: item['bucket'] as string,
    project: item['project'] as string,
    status: item['status'] as 'on' | 'off',
    alarms: item['alarms'] as number,
    pausing: item['pausing'] === true,
    token: item['r'] as string,
  };
}
