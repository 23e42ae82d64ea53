import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from './durable-directory.ts';

/** LMDB's magic number near the start of its file: 0xBEEFC0DE, little-endian. */
const magic = Buffer.from([0xde, 0xc0, 0xef, 0xbe]);
const headerSize = 64;

/**
 * Checks that the table's file, if it exists, is a table. On another file, the engine would end the process without a
 * message.
 * @throws Error with one line that says what to do
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
    // An empty file was created but never written.
    if (bytesRead > 0 && !buffer.includes(magic)) throw new Error(`${path} is not a table; restore it from a backup`);
  } finally {
    await file.close();
  }
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
 * Makes a table durable that the engine has just opened or created: it syncs neither the first pages nor the file's
 * directory entry.
 */
export async function syncTableFile(directory: string): Promise<void> {
  const file = await open(join(directory, 'data.mdb'), 'r+');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
  await syncDirectory(directory);
}
