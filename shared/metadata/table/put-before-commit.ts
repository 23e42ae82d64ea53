import { S3Error } from '../../errors/s3-error.ts';
import type { Attributes, ItemKey, KeyValueTable } from '../../ports/key-value-table.ts';

/**
 * Writes an item that a later commit is to refer to. Without the certainty that it is there, nothing may be committed.
 * @throws S3Error ServiceUnavailable unless it was written
 */
export async function putBeforeCommit(table: KeyValueTable, key: ItemKey, put: Attributes): Promise<void> {
  const { outcome } = await table.write([{ key, put }]);
  if (outcome !== 'written') throw new S3Error('ServiceUnavailable');
}
