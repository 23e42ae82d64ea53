import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from './durable-directory.ts';

/** What LMDB writes near the beginning of its file: 0xBEEFC0DE, little-endian. */
const magic = Buffer.from([0xde, 0xc0, 0xef, 0xbe]);
const headerSize = 64;

/**
 * Looks whether the file of a table, if there is one, is a table. The engine would end the process without a word.
 * @throws Error of one line that says what to do
 */
export async function checkTableFile(directory: string): Promise<void> {
  const path = join(directory, 'data.mdb');
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(headerSize), 0, headerSize, 0);
    // An empty file is one that was created and no more.
    if (bytesRead > 0 && !buffer.includes(magic)) throw new Error(`${path} is no table; restore it from a backup`);
  } finally {
    await file.close();
  }
}

/** Whether there is the file of a table in this directory. An empty one does not count. */
export async function hasTableFile(directory: string): Promise<boolean> {
  const found = await stat(join(directory, 'data.mdb')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return found !== undefined && found.size > 0;
}

/** Makes a table durable that the engine has just opened, perhaps created: it syncs neither the first pages nor the name of the file. */
export async function syncTableFile(directory: string): Promise<void> {
  const file = await open(join(directory, 'data.mdb'), 'r+');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
  await syncDirectory(directory);
}
