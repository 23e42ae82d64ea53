import { EventLoopBudget } from '../../ports/event-loop.ts';
import type { KeyValueTable } from '../../ports/key-value-table.ts';
import * as keyParts from '../table/key-parts.ts';
import { kinds } from '../table/keys.ts';
import { sumOfRows, usageRows } from './usage-rows.ts';

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
