import { createHash } from 'node:crypto';
import type { Attributes, Expectation, KeyValueTable } from '../ports/key-value-table.ts';
import { accountKey, accountKeyParts, accountPrefix } from '../storage/table/keys/account-keys.ts';
import { asRead, conflict, optimistically } from '../storage/table/optimistic-write.ts';
import { decodeStored, everyItem } from './account-items.ts';
import { mayBeRoot } from './identity-items.ts';

/**
 * Returns the account number of a project: 12 digits, by which AWS's clients know it in ARNs. A project that has none yet gets one that no
 * other has, and keeps it; its oldest user becomes its root.
 * @param project the canonical id
 * @throws Error if there is no such project
 */
export async function accountNumber(table: KeyValueTable, project: string): Promise<string> {
  return (await numbered(table, project))['number'] as string;
}

/** Returns the item of a project, as {@link accountNumber} leaves it. */
export async function numbered(table: KeyValueTable, project: string): Promise<Attributes> {
  const key = accountKey.project(project);
  return optimistically<Attributes>(
    async (attempt) => {
      const item = await table.get(key);
      if (item === undefined) throw new Error(`there is no project ${project}`);
      if (typeof item['number'] === 'string') return item;
      const number = candidate(project, attempt);
      const root = (item['root'] as string | undefined) ?? (await oldestUser(table, project));
      // Without the write token of the item, which is that of an earlier write.
      const { r: _, ...others } = item;
      const put = { ...others, number, ...(root !== undefined && { root }) };
      const unnumbered: Expectation = { is: 'missing', attribute: 'number' };
      const { outcome } = await table.write([
        { key, put, expect: { is: 'all', of: [asRead(item), unnumbered] } },
        { key: accountKey.number(number), put: { project }, expect: { is: 'absent' } },
      ]);
      return outcome === 'written' ? put : conflict;
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

/** Returns the name of the oldest user that may do everything. */
async function oldestUser(table: KeyValueTable, project: string): Promise<string | undefined> {
  const users = await everyItem(table, accountKey.project(project).pk, accountPrefix.users);
  const [oldest] = users
    .filter(({ attributes }) => mayBeRoot(attributes))
    .toSorted((a, b) => decodeStored(a.attributes).created - decodeStored(b.attributes).created);
  return oldest && accountKeyParts.user(oldest.key);
}

/** Returns a number that follows from the id, so that a project that is declared again has its number again. None begins with 0. */
function candidate(project: string, attempt: number): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(['account number', project, attempt]))
    .digest();
  return String(10n ** 11n + (digest.readBigUInt64BE() % (9n * 10n ** 11n)));
}
