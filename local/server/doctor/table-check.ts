import { join } from 'node:path';
import { NotATable, TablePages, type PageDamage } from '../../../shared/adapters/embedded/table-file/table-pages.ts';

/** The pages that a start reads after an unclean end: of a table of about 200 MB all, in about two seconds. */
const maxPagesAtStart = 50_000;

/**
 * Returns a line that says what is damaged, or undefined. Reads the pages of all keys without the engine, which would end the process without
 * one. A table that other processes commit to meanwhile, or that is none, is left to those who open it.
 * @param maxPages after which it ends; without it, all are read
 */
export async function damageOfTable(data: string, maxPages = Infinity): Promise<string | undefined> {
  const path = join(data, 'table', 'data.mdb');
  const table = await TablePages.open(path).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof NotATable || error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (table === undefined) return undefined;
  try {
    const damage: PageDamage[] = [];
    await table.walk({ maxPages, onDamage: (one) => damage.push(one) === 0 });
    const [first] = damage;
    if (first === undefined || !(await table.isNewest())) return undefined;
    return `${path} is damaged: page ${first.page}: ${first.what}; stop what uses it, and see what is lost with stillage doctor --data ${data}`;
  } finally {
    await table.close();
  }
}

/** Warns in one line if the table is damaged, before the engine ends the process of the start, or of a request. */
export async function warnOfDamage(data: string): Promise<void> {
  const damage = await damageOfTable(data, maxPagesAtStart);
  if (damage !== undefined) process.stderr.write(`stillage: warning: ${damage}\n`);
}
