import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { open as openEnvironment } from 'lmdb';
import type { BlobRef } from '../../ports/blob-store.ts';
import type { SmallBlobs } from './small-blobs.ts';

/** Moved in one transaction. */
const step = 500;

/**
 * Moves the small blobs of a data directory from before they lay in the environment of the table: they had one of their own. The directory
 * goes once all of them are durable in their new place; until then each process that opens the store moves them again.
 */
export async function moveSmallBlobs(directory: string, small: SmallBlobs): Promise<void> {
  const isThere = await access(join(directory, 'data.mdb')).then(
    () => true,
    () => false,
  );
  if (!isThere) return;
  const former = openEnvironment<Buffer, BlobRef>({ path: directory, encoding: 'binary', noSubdir: false });
  for (let last: BlobRef | undefined; ;) {
    const range = last === undefined ? {} : { start: last, exclusiveStart: true };
    const page = [...former.getRange({ ...range, limit: step })];
    await small.adopt(page.map(({ key, value }) => ({ ref: key, value })));
    if (page.length < step) break;
    last = page.at(-1)!.key;
  }
  await former.close();
  await rm(directory, { recursive: true, force: true });
}
