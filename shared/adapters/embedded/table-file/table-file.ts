import { randomBytes } from 'node:crypto';
import { access, constants, link, lstat, mkdir, open, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../durable-directory.ts';
import { NotATable, TablePages, type PageDamage } from './table-pages.ts';

/** The attempts of a check, which starts again if another process has committed meanwhile. */
const maxAttempts = 5;

/**
 * Checks that the table's file, if it exists, is a table, that no page in use is missing, and that the pages that the engine needs for every
 * write are sound. On another file, or a missing or damaged page, the engine would end the process without a message. All pages are read only if the file is shorter than
 * its pages, which it may be: the last ones need not have been written if they are free.
 * @throws Error with one line that says what to do
 */
export async function checkTableFile(directory: string): Promise<void> {
  const path = join(directory, 'data.mdb');
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const table = await openTable(path);
    if (table === undefined) return;
    try {
      const isCut = table.pagesThere < table.pages;
      const [damage] = isCut ? await damageOf(table) : await table.checkEngine();
      if (damage === undefined) return;
      if (!(await table.isNewest())) continue;
      const what = isCut
        ? `was cut short: it has ${table.pagesThere} of ${table.pages} pages`
        : `is damaged: page ${damage.page}: ${damage.what}`;
      throw new Error(`${path} ${what}; restore a backup, or rescue the rest with stillage doctor`);
    } finally {
      await table.close();
    }
  }
}

/** Opens a table file. Returns undefined if there is none, or it was created but never written. */
async function openTable(path: string): Promise<TablePages | undefined> {
  try {
    return await TablePages.open(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error instanceof NotATable ? new Error(`${error.message}; restore it from a backup`) : error;
  }
}

/** Returns the first damage of a table, if any. */
async function damageOf(table: TablePages): Promise<PageDamage[]> {
  const damage: PageDamage[] = [];
  await table.walk({ onDamage: (one) => damage.push(one) === 0 });
  return damage;
}

/**
 * Checks that this process may use the table's files, or create the lock file. If the engine cannot open one, it ends the process without
 * a message.
 * @throws Error that names the file
 */
export async function checkTableAccess(directory: string): Promise<void> {
  for (const name of ['data.mdb', 'lock.mdb']) {
    const path = join(directory, name);
    const isThere = await lstat(path).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
    );
    await access(isThere ? path : directory, constants.R_OK | constants.W_OK);
    if (!isThere) await checkRoom(directory);
    else if (!(await stat(path)).isFile()) throw new Error(`${path} is not a file: move it away`);
  }
}

/** The bytes of the engine's lock file, rounded up to a large block. */
const lockFileSize = 64 * 1024;

/**
 * Checks that there is room for a lock file. The engine creates it without its bytes, and ends the process by SIGBUS when it writes where
 * a full disk has none.
 */
async function checkRoom(directory: string): Promise<void> {
  const { bsize, bfree, bavail } = await statfs(directory);
  const free = process.getuid?.() === 0 ? bfree : bavail;
  if (free * bsize < lockFileSize)
    throw new Error(`there is no room for ${join(directory, 'lock.mdb')}: make room on its disk`);
}

/** Tells whether this directory has a table file. An empty file does not count. */
export async function hasTableFile(directory: string): Promise<boolean> {
  const found = await stat(join(directory, 'data.mdb')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return found !== undefined && found.size > 0;
}

/**
 * Creates the table's file unless it exists. The engine does not sync the first pages that it writes, and takes a file without them for
 * damaged. So the file gets its name once they are on the disk: a power failure leaves a whole file or none.
 * @param create lets the engine create an environment in a directory
 */
export async function ensureTableFile(directory: string, create: (directory: string) => Promise<void>): Promise<void> {
  const path = join(directory, 'data.mdb');
  const isThere = await stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
  if (isThere) return;
  const draft = join(directory, `${randomBytes(6).toString('hex')}.draft`);
  await mkdir(draft, { mode: 0o700 });
  try {
    await checkRoom(draft);
    await create(draft);
    await syncData(join(draft, 'data.mdb'));
    await link(join(draft, 'data.mdb'), path).catch((error: NodeJS.ErrnoException) => {
      // Another process was faster.
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * Makes durable what a process did that created the table's file and ended before it had synced it and its name.
 */
export async function syncTableFile(directory: string): Promise<void> {
  await syncData(join(directory, 'data.mdb'));
  await syncDirectory(directory);
}

async function syncData(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}
