import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { open as openEnvironment } from 'lmdb';
import type { BlobRef } from '../../ports/blob-store.ts';
import type { LmdbEnvironment } from './lmdb-environment.ts';
import type { SmallBlobs } from './small-blobs.ts';
import { checkTableFile } from './table-file.ts';

/** Moved in one transaction. */
const step = 500;

/**
 * Moves the small blobs of a data directory from before they lay in the environment of the table: they had one of their own. The directory
 * goes once all of them are durable in their new place; until then each process that opens the store moves them again.
 * @param environment of the table, from which any service reads as it starts
 * @throws Error while another process works on the data directory: a service of the former version would go on writing into files that
 *   have no name any more, and lose what it has answered
 */
export async function moveSmallBlobs(
  directory: string,
  small: SmallBlobs,
  environment: LmdbEnvironment,
): Promise<void> {
  const isThere = await access(join(directory, 'data.mdb')).then(
    () => true,
    () => false,
  );
  if (!isThere) return;
  const [other] = environment.otherReaders();
  if (other !== undefined) {
    throw new Error(
      `process ${other} works on it, perhaps in an earlier version, whose small blobs are still to be moved; stop it first`,
    );
  }
  await checkTableFile(directory);
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
