import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureDirectory } from '../../../shared/adapters/embedded/durable-directory.ts';
import { FileBlobStore } from '../../../shared/adapters/embedded/file-blob-store.ts';
import { KeyFileSecrets } from '../../../shared/adapters/embedded/key-file-secrets.ts';
import { LmdbEnvironment } from '../../../shared/adapters/embedded/lmdb-environment.ts';
import { LmdbTable, type Commits } from '../../../shared/adapters/embedded/lmdb-table.ts';
import type { SmallBlobWrites } from '../../../shared/adapters/embedded/small-blobs.ts';
import { makePrivate } from '../../../shared/adapters/embedded/private-path.ts';
import { checkTableFile, hasTableFile } from '../../../shared/adapters/embedded/table-file.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { isFollowed } from '../../../shared/metadata/table/keys.ts';
import { claimLayout } from '../../../shared/metadata/table/layout.ts';
import { OperatorError } from '../operator-error.ts';
import { isKeyOf } from './managed-key.ts';

/** What lies in a data directory, opened. Several processes may have it open: what one has written the others see. */
export interface DataDirectory {
  readonly secrets: KeyFileSecrets;
  readonly table: LmdbTable;
  readonly blobs: FileBlobStore;
  /** The ids of the other processes that have it open at the moment: of a service, or of another command. */
  readonly otherProcesses: () => readonly number[];
}

const keyFile = 'master.key';

/**
 * Opens a data directory, which is created if it is missing, with a key file of its own. The process ends if the table can no longer be used.
 * @throws OperatorError, also if the key file of its table is gone, or another one is in its place: before anything is written
 */
export async function openData(data: string): Promise<DataDirectory> {
  try {
    await ensureDirectory(data);
    await makePrivate(data);
    await checkKeyIsThere(data);
    const secrets = await KeyFileSecrets.open(join(data, keyFile));
    const environment = await LmdbEnvironment.open(join(data, 'table'), () => endProcess(data));
    const table = new LmdbTable(environment, { isFollowed });
    try {
      await claimLayout({ table, randomness: new CryptoRandomness() });
    } catch (error) {
      await table.close();
      throw error;
    }
    if (!(await isKeyOf(table, secrets))) {
      await table.close();
      throw new Error(`the secrets in its table are sealed with another ${keyFile}; put that one back from a backup`);
    }
    const blobs = await FileBlobStore.open(join(data, 'blobs'), environment);
    return { secrets, table, blobs, otherProcesses: () => environment.otherReaders() };
  } catch (cause) {
    throw new OperatorError(`--data: cannot use ${data}: ${(cause as Error).message}${whoMayHelp(data, cause)}`);
  }
}

/**
 * Opens a data directory that the primary of this process has opened, and leaves all writing to the table to it.
 * @param commits carries out writes
 * @param smallBlobs takes small blobs
 */
export async function attachData(data: string, commits: Commits, smallBlobs: SmallBlobWrites): Promise<DataDirectory> {
  const secrets = await KeyFileSecrets.open(join(data, keyFile));
  const environment = await LmdbEnvironment.open(join(data, 'table'), () => endProcess(data));
  const table = new LmdbTable(environment, { isFollowed, commits });
  const blobs = FileBlobStore.attach(join(data, 'blobs'), environment, smallBlobs);
  return { secrets, table, blobs, otherProcesses: () => environment.otherReaders() };
}

/** Opens a data directory that a service has been started on. @throws OperatorError */
export async function openExistingData(data: string): Promise<DataDirectory> {
  await access(join(data, 'table', 'data.mdb')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') {
      throw new OperatorError(`--data: cannot use ${data}: ${error.message}`);
    }
    throw new OperatorError(
      `--data: there is no table in ${data}; name the directory of the service, or start one on it first`,
    );
  });
  return openData(data);
}

/** What to do about a directory of somebody else's: one that is mounted into a container is most often root's. */
function whoMayHelp(data: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'EACCES' && code !== 'EPERM') return '';
  const [user, group] = [process.getuid?.(), process.getgid?.()];
  if (user === undefined || group === undefined || user === 0) return '';
  return `; the service runs as user ${user}, whose directory it must be: chown -R ${user}:${group} ${data}`;
}

/** The key file is older than the table. A new one would open none of the secrets that lie there. */
async function checkKeyIsThere(data: string): Promise<void> {
  const isThere = await access(join(data, keyFile)).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
  const table = join(data, 'table');
  if (isThere || !(await hasTableFile(table))) return;
  await checkTableFile(table);
  throw new Error(`there is a table in it, and no ${keyFile} to open its secrets; put it back from a backup`);
}

/**
 * The engine wants the table closed and opened anew. A new process does that, and finds what the disk has: what was acknowledged is there.
 * In this one, whoever has read or written would have to begin again.
 */
function endProcess(data: string): void {
  process.stderr.write(`stillage: the disk failed a write to the table in ${data}; ending, to be started again\n`);
  // What an exit waits for may wait for ever: for a thread of the engine, and that for a lock.
  process.kill(process.pid, 'SIGKILL');
}
