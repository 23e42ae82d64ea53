import { itemKey } from '../../../../shared/metadata/table/keys.ts';
import { settled } from '../../../../shared/metadata/table/settled.ts';
import type { KeyValueTable } from '../../../../shared/ports/key-value-table.ts';

const key = itemKey.deployment('release-grace');

/** Records for how many milliseconds the service keeps released content at least: a command that follows the change feed has to know. */
export async function keepGrace(table: KeyValueTable, grace: number): Promise<void> {
  await settled(table.write([grace === 0 ? { key, delete: true } : { key, put: { value: grace } }]));
}

/** Returns what {@link keepGrace} recorded. */
export async function keptGrace(table: KeyValueTable): Promise<number> {
  return ((await table.get(key))?.['value'] as number | undefined) ?? 0;
}
