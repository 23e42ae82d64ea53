import { closeSync, constants, fsync, openSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';

const fsyncFile = promisify(fsync);

/** Makes the entries of a directory survive a loss of power. Syncing a file does not sync the name it was created under. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await fsyncFile(directory);
  } finally {
    closeSync(directory);
  }
}

/** Creates a directory that only its owner may enter, and those above it, each durable in its parent. */
export async function ensureDirectory(path: string): Promise<void> {
  const topmost = await mkdir(path, { recursive: true, mode: 0o700 });
  if (topmost === undefined) return;
  const shortest = resolve(topmost).length;
  for (let created = resolve(path); created.length >= shortest; created = dirname(created)) {
    await syncDirectory(dirname(created));
  }
}
