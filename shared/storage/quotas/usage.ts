import type { KeyValueTable } from '../../ports/key-value-table.ts';
import { sumOfRows, usageRows, type Counters } from './usage-rows.ts';
import { EventLoopBudget } from '../../ports/event-loop.ts';
import * as keyParts from '../table/keys/key-parts.ts';
import { kinds } from '../table/keys/keys.ts';

/** Reads the usage of buckets. */
export interface UsageCounters {
  /** @param options.mayBeStale allows eventually consistent reads, if counts of some seconds ago suffice */
  of(bucketId: string, options?: { readonly mayBeStale?: boolean }): Promise<Counters>;
}

/** Reads the usage counters that `UsageFollower` maintains. */
export class Usage implements UsageCounters {
  readonly #table: KeyValueTable;

  constructor(deps: { table: KeyValueTable }) {
    this.#table = deps.table;
  }

  /** Returns the sum over all shards. */
  async of(bucketId: string, options: { readonly mayBeStale?: boolean } = {}): Promise<Counters> {
    return sumOfRows(await usageRows(this.#table, bucketId, options));
  }
}

/** The usage of a bucket, with its name. */
export interface NamedUsage extends Counters {
  readonly bucket: string;
}

/** The steps to read the counters of a bucket. */
const stepsOfBucket = 40;

/** Reads the usage counters of all buckets, one after the other and so not as of one instant: it reads every bucket's item. */
export async function* usageOfAllBuckets(table: KeyValueTable): AsyncGenerator<NamedUsage> {
  const budget = new EventLoopBudget();
  for await (const { key, attributes } of table.scan({ prefixes: [kinds.bucket] })) {
    await budget.spend(stepsOfBucket);
    yield { bucket: keyParts.bucket(key), ...sumOfRows(await usageRows(table, attributes['id'] as string)) };
  }
}
