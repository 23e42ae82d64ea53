import { itemKey } from '../../../shared/storage/table/keys/keys.ts';
import { bestEffort } from '../../../shared/storage/table/settled.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';

const key = itemKey.deployment('release-grace');

/** Records the minimum time in milliseconds for which the service keeps released content, for commands that follow the change feed. */
export async function keepGrace(table: KeyValueTable, grace: number): Promise<void> {
  if ((await keptGrace(table)) === grace) return;
  // On a full disk, commands go by the former one until the next start.
  await bestEffort(table.write([grace === 0 ? { key, delete: true } : { key, put: { value: grace } }]));
}

/** Returns the time that {@link keepGrace} recorded. */
export async function keptGrace(table: KeyValueTable): Promise<number> {
  return ((await table.get(key))?.['value'] as number | undefined) ?? 0;
}
