import type { KeyValueTable } from '../../ports/key-value-table.ts';
import { sumOfRows, usageRows } from './usage-rows.ts';

/** What a bucket holds: versions that are not markers, and the bytes of all versions. */
export interface BucketUsage {
  readonly objects: number;
  readonly bytes: number;
}

/** Where the usage of a bucket can be read. */
export interface UsageCounters {
  of(bucketId: string): Promise<BucketUsage>;
}

/** Reads the usage counters, which `UsageFollower` keeps. */
export class Usage implements UsageCounters {
  readonly #table: KeyValueTable;

  constructor(deps: { table: KeyValueTable }) {
    this.#table = deps.table;
  }

  /** The sum over all shards. */
  async of(bucketId: string): Promise<BucketUsage> {
    const { objects, bytes } = sumOfRows(await usageRows(this.#table, bucketId));
    return { objects, bytes };
  }

  /** As {@link of}, with the parts of uploads that are open or not tidied up yet. */
  async held(bucketId: string): Promise<BucketUsage> {
    const { objects, bytes, parts } = sumOfRows(await usageRows(this.#table, bucketId));
    return { objects, bytes: bytes + parts };
  }
}
