import { closeSync, constants, fsync, openSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';

const fsyncFile = promisify(fsync);

/** Makes the entries of a directory survive a power failure. Syncing a file does not sync its directory entry. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await fsyncFile(directory);
  } finally {
    closeSync(directory);
  }
}

/** Creates a directory that only its owner may enter, and its missing parents, each durable in its parent. */
export async function ensureDirectory(path: string): Promise<void> {
  for (const created of await createMissing(resolve(path))) await syncDirectory(dirname(created));
}

/**
 * Creates a directory and its missing parents. Node's own `recursive` never returns in a directory that accepts no
 * entries, such as /proc.
 * @returns the directories created, innermost first
 */
async function createMissing(path: string): Promise<readonly string[]> {
  try {
    return await create(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    const above = await createMissing(dirname(path));
    return [...(await create(path)), ...above];
  }
}

async function create(path: string): Promise<readonly string[]> {
  try {
    await mkdir(path, { mode: 0o700 });
    return [path];
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST' && (await stat(path)).isDirectory();
    if (!isThere) throw error;
    return [];
  }
}
