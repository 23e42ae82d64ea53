import type { ItemKey } from '../../ports/key-value-table.ts';
import { dayOf } from '../days.ts';

/** The partitions of bills. They outlive the buckets they are about. */
export const billingPartition = {
  storage: (project: string): string => `storage/${project}`,
  requests: (project: string): string => `requests/${project}`,
} as const;

/** What the sort keys of a counter's days begin with. A counter is what one shard of the change feed tells of a bucket. */
export const billingPrefix = {
  counter: (bucketId: string, shardId: string): string => `${bucketId}/${shardId}/`,
  /** Sorts after all days of a counter: these begin with digits. */
  afterCounter: (counter: string): string => `${counter}~`,
} as const;

export const billingKey = {
  /** What a bucket held on a day, as one shard of the change feed tells it. */
  storage: (project: string, bucketId: string, shardId: string, day: string): ItemKey => ({
    pk: billingPartition.storage(project),
    sk: billingPrefix.counter(bucketId, shardId) + day,
  }),
  /** Requests of a day, as far as the processes count them that write to this slot. */
  requests: (project: string, day: string, slot: number): ItemKey => ({
    pk: billingPartition.requests(project),
    sk: `${day}/${slot}`,
  }),
  /** Requests of an hour, all of them. @param hour when it begins */
  requestsOfHour: (project: string, hour: number): ItemKey => ({
    pk: billingPartition.requests(project),
    sk: `${dayOf(hour)}/h${new Date(hour).toISOString().slice('yyyy-mm-ddT'.length, 'yyyy-mm-ddThh'.length)}`,
  }),
} as const;

/** Reads back what keys were built from. */
export const billingKeyParts = {
  /** The prefix of the counter, and the day. */
  storage: ({ sk }: ItemKey): { readonly counter: string; readonly day: string } => {
    const end = sk.lastIndexOf('/') + 1;
    return { counter: sk.slice(0, end), day: sk.slice(end) };
  },
  /** The day of requests, whether of a slot or of an hour. */
  requestsDay: ({ sk }: ItemKey): string => sk.slice(0, sk.indexOf('/')),
} as const;
