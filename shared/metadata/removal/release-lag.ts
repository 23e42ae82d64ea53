import type { KeyValueTable } from '../../ports/key-value-table.ts';
import * as keyParts from '../table/key-parts.ts';
import { garbagePartitions, partition } from '../table/keys.ts';

/** Returns for how many milliseconds the oldest entry of the release queue has been due. A sweep that keeps up leaves at most a minute. */
export async function releaseLag(table: KeyValueTable, now: number): Promise<number> {
  const numbers = Array.from({ length: garbagePartitions }, (_, number) => number);
  const oldest = await Promise.all(
    numbers.map((number) => table.query(partition.garbage(number), { limit: 1, mayBeStale: true })),
  );
  const due = oldest.flatMap(({ items }) => items).map(({ key }) => keyParts.garbage(key).due);
  return Math.max(0, ...due.map((time) => now - time));
}
