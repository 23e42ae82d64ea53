import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { open as openEnvironment } from 'lmdb';
import type { BlobRef } from '../../../ports/blob-store.ts';
import type { LmdbEnvironment } from '../table/lmdb-environment.ts';
import type { SmallBlobs } from './small-blobs.ts';
import { checkTableFile } from '../table-file/table-file.ts';

/** The number of blobs moved in one transaction. */
const step = 500;

/**
 * Moves the small blobs of an older data directory, where they had a separate environment, to the table's
 * environment. Removes the old directory once all of them are durable in the new place; until then, each process that
 * opens the store moves them again.
 * @param environment of the table, which every service reads when it starts
 * @throws Error while another process uses the data directory: a service of an older version would go on writing to the
 *   removed files and lose acknowledged data
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
      `process ${other}, perhaps of an earlier version, is using it, but its small blobs have to be moved; stop it first`,
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
