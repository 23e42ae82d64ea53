import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileBlobStore } from '../../shared/adapters/embedded/blobs/file-blob-store.ts';
import { LmdbEnvironment } from '../../shared/adapters/embedded/table/lmdb-environment.ts';
import { LmdbTable } from '../../shared/adapters/embedded/table/lmdb-table.ts';
import { describeBlobStore } from './blob-store.ts';
import type { OpenBlobStore } from './blob-store.ts';
import { describeChangeFeed } from './change-feed.ts';
import { describeKeyValueTable } from './key-value-table.ts';

async function openTable(): Promise<{ table: LmdbTable; feed: LmdbTable; close: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'stillage-table-'));
  const table = await LmdbTable.open(join(directory, 'table'));
  const close = async (): Promise<void> => {
    await table.close();
    await rm(directory, { recursive: true });
  };
  return { table, feed: table, close };
}

describeKeyValueTable('LmdbTable', { open: openTable });
describeChangeFeed('LmdbTable', { open: openTable });
describeBlobStore('FileBlobStore', { open: openBlobs });

async function openBlobs(): Promise<OpenBlobStore> {
  const directory = await mkdtemp(join(tmpdir(), 'stillage-blobs-'));
  const store = await FileBlobStore.open(
    join(directory, 'blobs'),
    await LmdbEnvironment.open(join(directory, 'table')),
  );
  return { store, close: () => rm(directory, { recursive: true }), openHandles: () => openFilesUnder(directory) };
}

/** Returns the number of files below a directory that this process holds open; 0 if the system does not provide it. */
async function openFilesUnder(directory: string): Promise<number> {
  const files = await readdir('/proc/self/fd').catch(() => []);
  const paths = await Promise.all(files.map((file) => readlink(`/proc/self/fd/${file}`).catch(() => '')));
  return paths.filter((path) => path.startsWith(directory)).length;
}
