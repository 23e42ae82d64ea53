import type { ItemKey } from '../../../ports/key-value-table.ts';
import { dayOf } from './days.ts';

/** The partitions of bills. They outlive the buckets they are about. */
export const billingPartition = {
  storage: (project: string): string => `storage/${project}`,
  requests: (project: string): string => `requests/${project}`,
} as const;

/**
 * The prefixes of the sort keys of a counter's days. A counter is the record that one shard of the change feed keeps of
 * a bucket.
 */
export const billingPrefix = {
  counter: (bucketId: string, shardId: string): string => `${bucketId}/${shardId}/`,
  /** Sorts after all days of a counter, which begin with digits. */
  afterCounter: (counter: string): string => `${counter}~`,
} as const;

export const billingKey = {
  /** The storage of a bucket on one day, as counted by one shard of the change feed. */
  storage: (project: string, bucketId: string, shardId: string, day: string): ItemKey => ({
    pk: billingPartition.storage(project),
    sk: billingPrefix.counter(bucketId, shardId) + day,
  }),
  /** The requests of a day, as counted by the processes that write to this slot. */
  requests: (project: string, day: string, slot: number): ItemKey => ({
    pk: billingPartition.requests(project),
    sk: `${day}/${slot}`,
  }),
  /**
   * All requests of an hour.
   * @param hour the start of the hour
   */
  requestsOfHour: (project: string, hour: number): ItemKey => ({
    pk: billingPartition.requests(project),
    sk: `${dayOf(hour)}/h${new Date(hour).toISOString().slice('yyyy-mm-ddT'.length, 'yyyy-mm-ddThh'.length)}`,
  }),
} as const;

/** Parses keys: the inverse of {@link billingKey}. */
export const billingKeyParts = {
  /** Returns the prefix of the counter, and the day. */
  storage: ({ sk }: ItemKey): { readonly counter: string; readonly day: string } => {
    const end = sk.lastIndexOf('/') + 1;
    return { counter: sk.slice(0, end), day: sk.slice(end) };
  },
  /** Returns the day of requests, whether of a slot or of an hour. */
  requestsDay: ({ sk }: ItemKey): string => sk.slice(0, sk.indexOf('/')),
} as const;
