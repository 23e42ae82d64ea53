import type { Clock } from '../ports/clock.ts';
import type { Attributes, Change, Condition, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { BucketAuthorisation } from '../storage/buckets/authorisation.ts';
import type { Buckets } from '../storage/buckets/buckets.ts';
import { writeToken } from '../storage/table/keys/ids.ts';
import { monitoringKey, monitoringPartition } from '../storage/table/keys/monitoring-keys.ts';
import { conflict, jitter, optimistically, slowDown, tokenIs } from '../storage/table/optimistic-write.ts';
import { settled } from '../storage/table/settled.ts';

/** A bucket that has, or once had, monitoring. */
export interface MonitoredBucket {
  readonly bucketId: string;
  readonly bucket: string;
  readonly project: string;
  readonly status: 'on' | 'off';
  /** The number of its alarms. */
  readonly alarms: number;
  /** Monitoring has been turned off, but not every alarm has been paused yet. */
  readonly pausing: boolean;
  readonly token: string;
}

const pageSize = 100;

/**
 * The buckets that have monitoring. The item that says so is also the bucket's entry in the list that the scheduled
 * functions read, so they never touch any other bucket.
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
   * @returns the entry afterwards; undefined if the bucket never had monitoring and it was to be turned off
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

  /** Records that all alarms have been paused. */
  async paused(entry: MonitoredBucket): Promise<void> {
    await settled(this.#table.write([this.change(entry, { ...entry, pausing: false })]));
  }

  /** Yields every entry. */
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

  /** Returns the change of an entry, on condition that the entry is still as it was read. */
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
      expect: present === undefined ? { is: 'absent' } : tokenIs(present.token),
    };
  }
}

/** The condition on which an alarm may change its state. */
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
