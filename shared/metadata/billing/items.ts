import type { ItemKey } from '../../ports/key-value-table.ts';
import { dayOf } from './days.ts';

/** The partitions of bills. They outlive the buckets they are about. */
export const billingPartition = {
  storage: (project: string): string => `storage/${project}`,
  requests: (project: string): string => `requests/${project}`,
} as const;

export const billingKey = {
  /** What a bucket held on a day, as one shard of the change feed tells it. */
  storage: (project: string, bucketId: string, shardId: string, day: string): ItemKey => ({
    pk: billingPartition.storage(project),
    sk: `${bucketId}/${shardId}/${day}`,
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
