import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureDirectory } from '../../../shared/adapters/embedded/durable-directory.ts';
import { FileBlobStore } from '../../../shared/adapters/embedded/file-blob-store.ts';
import { KeyFileSecrets } from '../../../shared/adapters/embedded/key-file-secrets.ts';
import { LmdbEnvironment, type EnvironmentFailure } from '../../../shared/adapters/embedded/lmdb-environment.ts';
import { LmdbTable, type Commits } from '../../../shared/adapters/embedded/lmdb-table.ts';
import type { SmallBlobWrites } from '../../../shared/adapters/embedded/small-blobs.ts';
import { makePrivate } from '../../../shared/adapters/embedded/private-path.ts';
import { checkTableFile, hasTableFile } from '../../../shared/adapters/embedded/table-file.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { isFollowed } from '../../../shared/metadata/table/keys.ts';
import { claimLayout, ownLayout, sealedLayout } from '../../../shared/metadata/table/layout.ts';
import { OperatorError } from '../operator-error.ts';
import { isKeyOf } from './managed-key.ts';

/** An open data directory. Several processes may have it open; each sees what the others have written. */
export interface DataDirectory {
  readonly secrets: KeyFileSecrets;
  readonly table: LmdbTable;
  readonly blobs: FileBlobStore;
  /** Returns the ids of the other processes that have it open: a service, or another command. */
  readonly otherProcesses: () => readonly number[];
}

const keyFile = 'master.key';

/**
 * Opens a data directory; a missing one is created, with a new key file.
 * @param onFailure called once the table can no longer be used in this process: ends it, unless given
 * @param onCommitFailure called with the cause when a transaction could not be committed
 * @throws OperatorError, also if the key file is missing or does not belong to the table: before anything is written
 */
export async function openData(
  data: string,
  onFailure = (failure: EnvironmentFailure) => endProcess(data, failure),
  onCommitFailure: (cause: unknown) => void = () => undefined,
): Promise<DataDirectory> {
  try {
    await ensureDirectory(data);
    await makePrivate(data);
    await checkKeyIsThere(data);
    const secrets = await KeyFileSecrets.open(join(data, keyFile));
    const environment = await LmdbEnvironment.open(join(data, 'table'), onFailure, onCommitFailure);
    const table = new LmdbTable(environment, { isFollowed });
    try {
      await claimLayoutOf(table);
    } catch (error) {
      await table.close();
      throw error;
    }
    if (!(await isKeyOf(table, secrets))) {
      await table.close();
      throw new Error(`its table was encrypted with another ${keyFile}: restore that one from a backup`);
    }
    const blobs = await FileBlobStore.open(join(data, 'blobs'), environment);
    return { secrets, table, blobs, otherProcesses: () => environment.otherReaders() };
  } catch (cause) {
    throw new OperatorError(`--data: cannot use ${data}: ${(cause as Error).message}${whoMayHelp(data, cause)}`);
  }
}

/**
 * Claims the layout of a table: a new one stores items with checksums, which earlier versions cannot read, and one that they began stays as
 * it is until it is converted by `stillage compact --item-checksums`.
 */
export async function claimLayoutOf(table: LmdbTable): Promise<void> {
  const own = table.isEmpty() ? sealedLayout : ownLayout;
  const { version } = await claimLayout({ table, randomness: new CryptoRandomness() }, own);
  if (version >= sealedLayout.version) table.sealItems();
}

/**
 * Opens, in a worker, the data directory of its primary process, which does all writing to the table.
 * @param commits carries out writes
 * @param smallBlobs takes small blobs
 */
export async function attachData(data: string, commits: Commits, smallBlobs: SmallBlobWrites): Promise<DataDirectory> {
  const secrets = await KeyFileSecrets.open(join(data, keyFile));
  const environment = await LmdbEnvironment.open(join(data, 'table'), (failure) => endProcess(data, failure));
  const table = new LmdbTable(environment, { isFollowed, commits });
  const blobs = FileBlobStore.attach(join(data, 'blobs'), environment, smallBlobs);
  return { secrets, table, blobs, otherProcesses: () => environment.otherReaders() };
}

/** Opens the data directory of an existing service. @throws OperatorError */
export async function openExistingData(data: string): Promise<DataDirectory> {
  await access(join(data, 'table', 'data.mdb')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') {
      throw new OperatorError(`--data: cannot use ${data}: ${error.message}`);
    }
    throw new OperatorError(
      `--data: ${data} is not a data directory: name that of the service, or start a service on it first`,
    );
  });
  return openData(data);
}

/** Returns what to do about a directory of another user; one mounted into a container usually belongs to root. */
function whoMayHelp(data: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'EACCES' && code !== 'EPERM') return '';
  const [user, group] = [process.getuid?.(), process.getgid?.()];
  if (user === undefined || group === undefined || user === 0) return '';
  return `; the service runs as user ${user}, who must own the directory: chown -R ${user}:${group} ${data}`;
}

/** Refuses a table without its key file: a new key file could not decrypt its secrets. */
async function checkKeyIsThere(data: string): Promise<void> {
  const isThere = await access(join(data, keyFile)).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
  const table = join(data, 'table');
  if (isThere || !(await hasTableFile(table))) return;
  await checkTableFile(table);
  throw new Error(`it has a table, but no ${keyFile} to decrypt it: restore the file from a backup`);
}

/** The reason why this process can no longer use a data directory. */
export function whyUnusable(data: string, failure: EnvironmentFailure): string {
  return failure === 'refused'
    ? `a write to the table in ${data} failed on the disk`
    : `${data} was moved, replaced or removed`;
}

const remedies: Readonly<Record<EnvironmentFailure, string>> = {
  refused: 'start the service again',
  moved: 'put it back, or start the service with --data and its new path',
};

/**
 * Ends the process. After a failed write, LMDB requires the table to be closed and opened again; a new process reads what is on the
 * disk, which includes everything acknowledged. Within this process, all running reads and writes would have to start again.
 */
function endProcess(data: string, failure: EnvironmentFailure): void {
  process.stderr.write(`stillage: ${whyUnusable(data, failure)}; exiting: ${remedies[failure]}\n`);
  // A regular exit could wait for ever: for a thread of the engine that waits for a lock.
  process.kill(process.pid, 'SIGKILL');
}
