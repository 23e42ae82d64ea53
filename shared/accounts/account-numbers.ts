import { createHash } from 'node:crypto';
import type { KeyValueTable } from '../ports/key-value-table.ts';
import { accountKey } from '../storage/table/keys/account-keys.ts';
import { asRead, conflict, optimistically } from '../storage/table/optimistic-write.ts';

/**
 * Returns the account number of a project: 12 digits, by which AWS's clients know it in ARNs. A project that has none yet gets one that no
 * other has, and keeps it.
 * @param project the canonical id
 * @throws Error if there is no such project
 */
export async function accountNumber(table: KeyValueTable, project: string): Promise<string> {
  const key = accountKey.project(project);
  return optimistically<string>(
    async (attempt) => {
      const item = await table.get(key);
      if (item === undefined) throw new Error(`there is no project ${project}`);
      const own = item['number'];
      if (typeof own === 'string') return own;
      const number = candidate(project, attempt);
      const { outcome } = await table.write([
        { key, put: { ...item, number }, expect: asRead(item) },
        { key: accountKey.number(number), put: { project }, expect: { is: 'absent' } },
      ]);
      return outcome === 'written' ? number : conflict;
    },
    () => {
      throw new Error('the table was too busy to give a project its account number');
    },
  );
}

/** Returns the canonical id of the project with an account number. */
export async function projectOfNumber(table: KeyValueTable, number: string): Promise<string | undefined> {
  if (!/^\d{12}$/.test(number)) return undefined;
  return (await table.get(accountKey.number(number)))?.['project'] as string | undefined;
}

/** Returns a number that follows from the id, so that a project that is declared again has its number again. None begins with 0. */
function candidate(project: string, attempt: number): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(['account number', project, attempt]))
    .digest();
  return String(10n ** 11n + (digest.readBigUInt64BE() % (9n * 10n ** 11n)));
}
