import type { Attributes, Item, KeyValueTable, QueryOptions } from '../../ports/key-value-table.ts';
import { numberOf } from '../table/attribute-values.ts';
import { itemKey, partition } from '../table/keys/keys.ts';
import { partitionItems } from '../table/pages.ts';

/** The shard id of the row into which those of closed shards are folded. It sorts before real shard ids. */
export const baseShard = 'base';

/** The maximum number of reads of counters that keep changing. */
const maxReads = 4;

/**
 * What a bucket holds. There is no number for all of its bytes, so whoever shows some says which; only a quota counts both
 * together (`countedByQuota`).
 */
export interface Counters {
  /** Versions other than delete markers. */
  readonly objects: number;
  /** The bytes of all versions. */
  readonly bytesOfVersions: number;
  /** The bytes of what is no object: delete markers, open uploads, parts until they are cleaned up, and public links. */
  readonly bytesBesides: number;
}

export const noCounters: Counters = { objects: 0, bytesOfVersions: 0, bytesBesides: 0 };

/** The names of the counters. */
export const counterNames = Object.keys(noCounters) as readonly (keyof Counters)[];

/** Returns the sum of two counters. */
export function sumOfCounters(one: Counters, other: Counters): Counters {
  return {
    objects: one.objects + other.objects,
    bytesOfVersions: one.bytesOfVersions + other.bytesOfVersions,
    bytesBesides: one.bytesBesides + other.bytesBesides,
  };
}

/** Returns what one has more than the other. */
export function differenceOfCounters(one: Counters, other: Counters): Counters {
  return {
    objects: one.objects - other.objects,
    bytesOfVersions: one.bytesOfVersions - other.bytesOfVersions,
    bytesBesides: one.bytesBesides - other.bytesBesides,
  };
}

/** Encodes the counters of a row. All releases have these names. */
export function encodeCounters({ objects, bytesOfVersions, bytesBesides }: Counters): Attributes {
  return { objects, bytes: bytesOfVersions, parts: bytesBesides };
}

/** Decodes what {@link encodeCounters} encoded; of a row that is missing, zeros. */
export function decodeCounters(row: Attributes | undefined): Counters {
  return {
    objects: numberOf(row?.['objects']),
    bytesOfVersions: numberOf(row?.['bytes']),
    bytesBesides: numberOf(row?.['parts']),
  };
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
  return rows.reduce((sum, { attributes }) => sumOfCounters(sum, decodeCounters(attributes)), noCounters);
}
