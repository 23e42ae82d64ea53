import type { KeyValueTable } from '../../ports/key-value-table.ts';
import { sumOfRows, usageRows } from './usage-rows.ts';
import { EventLoopBudget } from '../../ports/event-loop.ts';
import * as keyParts from '../table/key-parts.ts';
import { kinds } from '../table/keys.ts';

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

/** The usage of a bucket, with its name. */
export interface NamedUsage {
  readonly bucket: string;
  /** Versions that are not delete markers. */
  readonly objects: number;
  /** Of all versions, and of parts of uploads that are open or not tidied up yet. */
  readonly bytes: number;
}

/** The steps to read the counters of a bucket. */
const stepsOfBucket = 40;

/** Reads the usage counters of all buckets, one after the other and so not as of one instant: it reads every bucket's item. */
export async function* usageOfAllBuckets(table: KeyValueTable): AsyncGenerator<NamedUsage> {
  const budget = new EventLoopBudget();
  for await (const { key, attributes } of table.scan({ prefixes: [kinds.bucket] })) {
    await budget.spend(stepsOfBucket);
    const { objects, bytes, parts } = sumOfRows(await usageRows(table, attributes['id'] as string));
    yield { bucket: keyParts.bucket(key), objects, bytes: bytes + parts };
  }
}
