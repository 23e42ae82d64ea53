import { access, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { directories } from '../../../shared/adapters/embedded/blobs/blob-ref.ts';
import { syncDirectory } from '../../../shared/adapters/embedded/durable-directory.ts';
import { itemKey } from '../../../shared/storage/table/keys/keys.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';

const key = itemKey.deployment('blobs');
/** Services of all versions write it at their start. */
const servedKey = itemKey.deployment('service');
const tokenBytes = 9;

/**
 * Checks that a directory has the mark of the table, if the table states one: without the disk that is mounted there, it would be an
 * empty directory, in which new blobs would be out of sight as soon as the disk is mounted again. Creates nothing.
 * @throws Error with one line that says what to do
 */
export async function checkBlobs(root: string, table: KeyValueTable): Promise<void> {
  const found = await table.get(key);
  if (found !== undefined) {
    const mark = markOf(found['value'] as string);
    if (await isThere(join(root, mark))) return;
    throw new Error(
      `${root} is not the directory of its blobs, which has a file ${mark}: mount their disk there, or restore the directory`,
    );
  }
  // Of an earlier version, which created all directories before it served; or new.
  if ((await table.get(servedKey)) === undefined || (await hasDirectories(root))) return;
  throw new Error(
    `${root} has none of its blobs: mount their disk there, or restore the directory; if there were none, create ${join(root, directories[0]!)}`,
  );
}

/** Marks a directory that {@link checkBlobs} has found fit, unless it is marked. */
export async function markBlobs(root: string, table: KeyValueTable, randomness: Randomness): Promise<void> {
  if ((await table.get(key)) !== undefined) return;
  const value = Buffer.from(randomness.bytes(tokenBytes)).toString('base64url');
  const path = join(root, markOf(value));
  await (await open(path, 'wx', 0o600)).close();
  await syncDirectory(root);
  const { outcome } = await table.write([{ key, put: { value }, expect: { is: 'absent' } }]);
  // Another process was faster.
  if (outcome === 'conflict') await rm(path);
}

/** The name of the empty file that marks a directory of blobs. */
const markOf = (value: string): string => `store-${value}`;

async function hasDirectories(root: string): Promise<boolean> {
  const known = new Set(directories);
  const names = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.some((name) => known.has(name));
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}
