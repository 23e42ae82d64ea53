import type { Condition, KeyValueTable } from '../../ports/key-value-table.ts';
import { itemKey } from '../table/keys.ts';

/** Returns the number of buckets of a project. */
export async function bucketCountOf(table: KeyValueTable, project: string): Promise<number> {
  const item = await table.get(itemKey.bucketCount(project));
  return (item?.['count'] as number | undefined) ?? 0;
}

/** Returns the condition that a project owns no bucket. */
export function ownsNoBucket(project: string): Condition {
  return {
    key: itemKey.bucketCount(project),
    expect: { is: 'any', of: [{ is: 'absent' }, { is: 'equal', attribute: 'count', value: 0 }] },
  };
}
