import type { Item, KeyValueTable } from '../../ports/key-value-table.ts';
import { numberOf } from '../table/attribute-number.ts';
import { partition } from '../table/keys.ts';

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
    const { items } = await this.#table.query(partition.usage(bucketId));
    return sumOf(items);
  }

  /** As {@link of}, with the parts of uploads that are open or not tidied up yet. */
  async held(bucketId: string): Promise<BucketUsage> {
    const { items } = await this.#table.query(partition.usage(bucketId));
    const parts = items.reduce((sum, { attributes }) => sum + numberOf(attributes['parts']), 0);
    const { objects, bytes } = sumOf(items);
    return { objects, bytes: bytes + parts };
  }
}

/** The sum over all shards. */
function sumOf(items: readonly Item[]): BucketUsage {
  return items.reduce(
    (sum, { attributes }) => ({
      objects: sum.objects + numberOf(attributes['objects']),
      bytes: sum.bytes + numberOf(attributes['bytes']),
    }),
    { objects: 0, bytes: 0 },
  );
}
