import type { KeyValueTable } from '../../ports/key-value-table.ts';
import { sumOfRows, usageRows } from './usage-rows.ts';

/** The usage of a bucket: versions other than delete markers, and the bytes of all versions. */
export interface BucketUsage {
  readonly objects: number;
  readonly bytes: number;
}

/** Reads the usage of buckets. */
export interface UsageCounters {
  /** @param options.mayBeStale allows eventually consistent reads, if counts of some seconds ago suffice */
  of(bucketId: string, options?: { readonly mayBeStale?: boolean }): Promise<BucketUsage>;
}

/** Reads the usage counters that `UsageFollower` maintains. */
export class Usage implements UsageCounters {
  readonly #table: KeyValueTable;

  constructor(deps: { table: KeyValueTable }) {
    this.#table = deps.table;
  }

  /** Returns the sum over all shards. */
  async of(bucketId: string, options: { readonly mayBeStale?: boolean } = {}): Promise<BucketUsage> {
    const { objects, bytes } = sumOfRows(await usageRows(this.#table, bucketId, options));
    return { objects, bytes };
  }

  /** Returns the same as {@link of}, plus the parts of uploads that are open or not cleaned up yet. */
  async held(bucketId: string): Promise<BucketUsage> {
    const { objects, bytes, parts } = sumOfRows(await usageRows(this.#table, bucketId));
    return { objects, bytes: bytes + parts };
  }
}
