import { readdir, readlink } from 'node:fs/promises';
import { EphemeralBlobStore } from '../../shared/adapters/ephemeral/ephemeral-blob-store.ts';
import { EphemeralTable } from '../../shared/adapters/ephemeral/ephemeral-table.ts';
import { describeBlobStore } from './blob-store.ts';
import { describeChangeFeed } from './change-feed.ts';
import { describeKeyValueTable } from './key-value-table.ts';

async function openTable(): Promise<{ table: EphemeralTable; feed: EphemeralTable; close: () => Promise<void> }> {
  const table = new EphemeralTable();
  return { table, feed: table, close: () => table.close() };
}

describeKeyValueTable('EphemeralTable', { open: openTable });
describeChangeFeed('EphemeralTable', { open: openTable });
describeBlobStore('EphemeralBlobStore', {
  open: async () => {
    const store = new EphemeralBlobStore();
    return { store, close: () => store.close(), openHandles: openUnlinkedFiles };
  },
});

/** Returns the number of unlinked files that this process holds open; 0 if the system does not provide it. */
async function openUnlinkedFiles(): Promise<number> {
  const files = await readdir('/proc/self/fd').catch(() => []);
  const paths = await Promise.all(files.map((file) => readlink(`/proc/self/fd/${file}`).catch(() => '')));
  return paths.filter((path) => path.endsWith('/blob (deleted)')).length;
}
