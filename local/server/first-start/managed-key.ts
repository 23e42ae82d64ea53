import { itemKey } from '../../../shared/storage/table/keys/keys.ts';
import { settled } from '../../../shared/storage/table/settled.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import type { Secrets } from '../../../shared/ports/secrets.ts';

const context = 'sse-s3-key';
const key = itemKey.deployment(context);

/** Returns the key of SSE-S3, created on first use and stored encrypted with the key file. */
export async function managedKey(table: KeyValueTable, secrets: Secrets, randomness: Randomness): Promise<Uint8Array> {
  const value = await secrets.seal(randomness.bytes(32), context);
  await settled(table.write([{ key, put: { value }, expect: { is: 'absent' } }]));
  return secrets.open((await table.get(key))!['value'] as Uint8Array, context);
}

/** Returns whether the secrets belong to the table, that is, decrypt its SSE-S3 key. True if it has none yet. */
export async function isKeyOf(table: KeyValueTable, secrets: Secrets): Promise<boolean> {
  const found = await table.get(key);
  if (found === undefined) return true;
  return secrets.open(found['value'] as Uint8Array, context).then(
    () => true,
    () => false,
  );
}
