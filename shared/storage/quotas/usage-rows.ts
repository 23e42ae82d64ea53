import type { Item, KeyValueTable, QueryOptions } from '../../ports/key-value-table.ts';
import { numberOf } from '../table/attribute-values.ts';
import { itemKey, partition } from '../table/keys.ts';
import { partitionItems } from '../table/pages.ts';

/** The shard id of the row into which those of closed shards are folded. It sorts before real shard ids. */
export const baseShard = 'base';

/** The maximum number of reads of counters that keep changing. */
const maxReads = 4;

/**
 * The contents of a bucket: versions other than delete markers, the bytes of all versions and delete markers, and the
 * bytes of parts, open uploads and public links.
 */
export interface Counters {
  readonly objects: number;
  readonly bytes: number;
  readonly parts: number;
}

/**
 * Reads the rows of a bucket's counters, one per shard. A fold moves the counts of some rows into the base in one
 * transaction, which a query may see half of: rows whose counts are in the base already are left out, and if the base
 * has changed in the meantime, everything is read again. The last read of the base is strongly consistent in any case.
 */
export async function usageRows(
  table: KeyValueTable,
  bucketId: string,
  options: Pick<QueryOptions, 'mayBeStale'> = {},
): Promise<readonly Item[]> {
  for (let reads = 1; ; reads += 1) {
    const rows: Item[] = [];
    for await (const row of partitionItems(table, partition.usage(bucketId), options)) rows.push(row);
    const base = rows.find(({ key }) => key.sk === baseShard)?.attributes;
    const now = await table.get(itemKey.usage(bucketId, baseShard));
    if (now?.['r'] !== base?.['r'] && reads < maxReads) continue;
    const folded = base?.['folded'] as ReadonlySet<string> | undefined;
    return folded === undefined ? rows : rows.filter(({ attributes }) => !folded.has(attributes['r'] as string));
  }
}

/** Returns the sum of the rows of counters. */
export function sumOfRows(rows: readonly Item[]): Counters {
  return rows.reduce(
    (sum, { attributes }) => ({
      objects: sum.objects + numberOf(attributes['objects']),
      bytes: sum.bytes + numberOf(attributes['bytes']),
      parts: sum.parts + numberOf(attributes['parts']),
    }),
    { objects: 0, bytes: 0, parts: 0 },
  );
}
