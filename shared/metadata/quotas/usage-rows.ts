import type { Item, KeyValueTable } from '../../ports/key-value-table.ts';
import { numberOf } from '../table/attribute-number.ts';
import { itemKey, partition } from '../table/keys.ts';
import { partitionItems } from '../table/partition-items.ts';

/** Takes the place of the shard id in the row into which those of closed shards are folded. It sorts before shard ids. */
export const baseShard = 'base';

/** Whose counters changed while they were read is read again, at most so often. */
const maxReads = 4;

/** What a bucket holds: versions other than delete markers, the bytes of all versions, and those of parts of uploads. */
export interface Counters {
  readonly objects: number;
  readonly bytes: number;
  readonly parts: number;
}

/**
 * Reads the rows of a bucket's counters, one for each shard. A fold moves the counts of some rows into the base by one transaction,
 * of which a query may see one half: a row whose counts are in the base already is left out, and if the base has changed
 * meanwhile, everything is read again.
 */
export async function usageRows(table: KeyValueTable, bucketId: string): Promise<readonly Item[]> {
  for (let reads = 1; ; reads += 1) {
    const rows: Item[] = [];
    for await (const row of partitionItems(table, partition.usage(bucketId))) rows.push(row);
    const base = rows.find(({ key }) => key.sk === baseShard)?.attributes;
    const now = await table.get(itemKey.usage(bucketId, baseShard));
    if (now?.['r'] !== base?.['r'] && reads < maxReads) continue;
    const folded = base?.['folded'] as ReadonlySet<string> | undefined;
    return folded === undefined ? rows : rows.filter(({ attributes }) => !folded.has(attributes['r'] as string));
  }
}

/** Adds up the rows of counters. */
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
