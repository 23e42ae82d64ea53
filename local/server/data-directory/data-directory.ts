import { access, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ensureDirectory } from '../../../shared/adapters/embedded/durable-directory.ts';
import { FileBlobStore } from '../../../shared/adapters/embedded/blobs/file-blob-store.ts';
import { KeyFileSecrets } from '../../../shared/adapters/embedded/key-file-secrets.ts';
import { LmdbEnvironment, type EnvironmentFailure } from '../../../shared/adapters/embedded/table/lmdb-environment.ts';
import type { Moment } from '../../../shared/adapters/embedded/table/moment.ts';
import { LmdbTable, type Commits } from '../../../shared/adapters/embedded/table/lmdb-table.ts';
import type { SmallBlobWrites } from '../../../shared/adapters/embedded/blobs/small-blobs.ts';
import { makePrivate } from '../../../shared/adapters/embedded/private-path.ts';
import { checkTableFile, hasTableFile } from '../../../shared/adapters/embedded/table-file/table-file.ts';
import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { isFollowed } from '../../../shared/storage/table/keys/keys.ts';
import { claimLayout, layoutKey, ownLayout, sealedLayout } from '../../../shared/storage/table/layout.ts';
import { ItemDamaged } from '../../../shared/ports/key-value-table.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { heldUntil } from '../backup/backup-leases.ts';
import { checkBlobs, markBlobs } from './blobs-mark.ts';
import { isKeyOf } from '../first-start/managed-key.ts';
import { refuseUnfinished } from '../migration/migration-state.ts';
import { isServed, lockDirectory, servedBy, type ServiceLock } from './service-lock.ts';

/** An open data directory. Several processes may have it open; each sees what the others have written. */
export interface DataDirectory {
  readonly secrets: KeyFileSecrets;
  readonly table: LmdbTable;
  readonly blobs: FileBlobStore;
  /** Opens the table as it is now. */
  readonly moment: () => Moment;
  /** Returns the ids of the other processes that have it open: a service, or another command. */
  readonly otherProcesses: () => readonly number[];
}

const keyFile = 'master.key';

/** For what a directory is opened. Default: to be used. */
export interface Opening {
  /** A migration writes into it what another table has followed already. */
  readonly isTarget?: boolean;
}

/**
 * Opens a data directory; a missing one is created, with a new key file.
 * @param onFailure called once the table can no longer be used in this process: ends it, unless given
 * @param onCommitFailure called with the cause when a transaction could not be committed
 * @throws OperatorError, also if the key file is missing or does not belong to the table, or a migration into it has not ended: before
 *   anything is written
 */
export async function openData(
  data: string,
  onFailure = (failure: EnvironmentFailure) => endProcess(data, failure),
  onCommitFailure: (cause: unknown) => void = () => undefined,
  { isTarget = false }: Opening = {},
): Promise<DataDirectory> {
  // The file handles with which it replaces those of Node.js have neither sync nor datasync.
  if (process.versions['pnp'] !== undefined) {
    throw new OperatorError(
      "--data: Yarn's Plug'n'Play cannot sync files to the disk: set `nodeLinker: node-modules` in .yarnrc.yml, and install again",
    );
  }
  try {
    await ensureDirectory(data);
    await makePrivate(data);
    await checkKeyIsThere(data);
    await checkLockFileIsThere(data);
    const secrets = await KeyFileSecrets.open(join(data, keyFile));
    const environment = await LmdbEnvironment.open(join(data, 'table'), onFailure, onCommitFailure);
    const table = new LmdbTable(environment, { isFollowed: isTarget ? () => false : isFollowed });
    try {
      if (!isTarget) await refuseUnfinished(table);
      await claimLayoutOf(table);
    } catch (error) {
      await table.close();
      throw error;
    }
    if (!(await isKeyOf(table, secrets))) {
      await table.close();
      throw new Error(`its table was encrypted with another ${keyFile}: restore that one from a backup`);
    }
    const blobs = await openBlobs(join(data, 'blobs'), environment, table).catch(async (error: unknown) => {
      await table.close();
      throw error;
    });
    return opened(environment, { secrets, table, blobs });
  } catch (cause) {
    throw cannotUse(data, cause);
  }
}

/**
 * The directories that this process serves. Opening a table takes the engine a transaction of its own, for which it would stop the process
 * until that of another service has ended, which the process itself must end.
 */
const servedHere = new Set<string>();

/**
 * Opens a data directory to serve it.
 * @param onFailure called once it can no longer be used in this process: ends it, unless given
 * @param onCommitFailure called with the cause when a transaction could not be committed
 * @throws OperatorError, also if another service runs on it
 */
export async function openToServe(
  data: string,
  onFailure = (failure: DirectoryFailure) => endProcess(data, failure),
  onCommitFailure?: (cause: unknown) => void,
  opening?: Opening,
): Promise<DataDirectory & { readonly lock: ServiceLock }> {
  const path = await realpath(data).catch(() => resolve(data));
  if (servedHere.has(path)) throw servedBy(data, process.pid);
  servedHere.add(path);
  let directory: DataDirectory | undefined;
  try {
    directory = await openData(data, onFailure, onCommitFailure, opening);
    const onLost = (): void => onFailure('unreachable');
    const lock = await lockDirectory(data, directory.table, new CryptoRandomness(), onLost);
    return { ...directory, lock: { ...lock, release: () => lock.release().finally(() => servedHere.delete(path)) } };
  } catch (error) {
    servedHere.delete(path);
    // Otherwise the table would be watched for as long as the process runs.
    await Promise.all([directory?.table.close(), directory?.blobs.close()]);
    throw error;
  }
}

function heldBy(table: LmdbTable): () => Promise<number> {
  const clock = new SystemClock();
  return () => heldUntil(table, clock.now());
}

async function openBlobs(root: string, environment: LmdbEnvironment, table: LmdbTable): Promise<FileBlobStore> {
  await checkBlobs(root, table);
  const blobs = await FileBlobStore.open(root, environment, heldBy(table));
  // A full disk must not keep a service of an earlier version from starting: the next start marks them.
  await markBlobs(root, table, new CryptoRandomness()).catch(() => undefined);
  return blobs;
}

/**
 * Claims the layout of a table: a new one stores items with checksums, which earlier versions cannot read, and one that they began stays as
 * it is until it is converted by `stillage compact --item-checksums`.
 */
export async function claimLayoutOf(table: LmdbTable): Promise<void> {
  const own = table.isEmpty() ? sealedLayout : ownLayout;
  const { version } = await claimLayout({ table, randomness: new CryptoRandomness() }, own);
  if (version >= sealedLayout.version) table.sealItems(layoutKey);
}

/**
 * Opens, in a worker, the data directory of its primary process, which does all writing to the table.
 * @param commits carries out writes
 * @param smallBlobs takes small blobs
 */
export async function attachData(data: string, commits: Commits, smallBlobs: SmallBlobWrites): Promise<DataDirectory> {
  await checkLockFileIsThere(data);
  const secrets = await KeyFileSecrets.open(join(data, keyFile));
  const environment = await LmdbEnvironment.open(join(data, 'table'), (failure) => {
    // The primary notices missing files as well, and ends the service.
    if (failure === 'refused') endProcess(data, failure);
  });
  const table = new LmdbTable(environment, { isFollowed, commits });
  const blobs = FileBlobStore.attach(join(data, 'blobs'), environment, heldBy(table), smallBlobs);
  return opened(environment, { secrets, table, blobs });
}

function opened(
  environment: LmdbEnvironment,
  parts: Pick<DataDirectory, 'secrets' | 'table' | 'blobs'>,
): DataDirectory {
  return { ...parts, moment: () => environment.moment(), otherProcesses: () => environment.otherReaders() };
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

/** Returns the error for a directory that cannot be opened. */
export function cannotUse(data: string, cause: unknown): OperatorError {
  return new OperatorError(
    `--data: cannot use ${data}: ${(cause as Error).message}${whoMayHelp(data, cause)}${whatMayHelp(data, cause)}`,
  );
}

/** Returns what to do about a directory of another user; one mounted into a container usually belongs to root. */
function whoMayHelp(data: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'EACCES' && code !== 'EPERM') return '';
  const [user, group] = [process.getuid?.(), process.getgid?.()];
  if (user === undefined || group === undefined || user === 0) return '';
  return `; the service runs as user ${user}, who must own the directory: chown -R ${user}:${group} ${data}`;
}

/** Returns what to do about a table in which the engine, or a checksum, has found damage. */
function whatMayHelp(data: string, error: unknown): string {
  const isDamage =
    error instanceof ItemDamaged || /^MDB_(?:CORRUPTED|PAGE_NOTFOUND|BAD_TXN)/.test((error as Error).message);
  return isDamage ? `; see what is lost with stillage doctor --data ${data}, or restore a backup` : '';
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

/** Refuses a table that a service uses by a lock file that is gone: with a new one, neither would see what the other reads and writes. */
async function checkLockFileIsThere(data: string): Promise<void> {
  const lockFile = join(data, 'table', 'lock.mdb');
  const isThere = await access(lockFile).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
  if (isThere || !(await isServed(data))) return;
  throw new Error(`a service runs on it, whose ${lockFile} was removed: it ends by itself, then try again`);
}

/** The reason why a service can no longer use its data directory. */
export type DirectoryFailure = EnvironmentFailure | 'unreachable';

/** The reason why this process can no longer use a data directory. */
export function whyUnusable(data: string, failure: DirectoryFailure): string {
  switch (failure) {
    case 'refused':
      return `a write to the table in ${data} failed on the disk`;
    case 'moved':
      return `${data} was moved, replaced or removed`;
    case 'unlocked':
      return `${join(data, 'table', 'lock.mdb')} was removed or replaced`;
    case 'unreachable':
      return `the socket of the service in ${data} was removed`;
  }
}

const remedies: Readonly<Record<DirectoryFailure, string>> = {
  refused: 'start the service again',
  moved: 'put it back, or start the service with --data and its new path',
  unlocked: 'start the service again, and leave this file to it',
  unreachable: 'start the service again, and leave the files service-*.sock to it',
};

/**
 * Ends the process. After a failed write, LMDB requires the table to be closed and opened again; a new process reads what is on the
 * disk, which includes everything acknowledged. Within this process, all running reads and writes would have to start again. Without one of
 * its locks, the process may no longer be the only one.
 */
export function endProcess(data: string, failure: DirectoryFailure): void {
  process.stderr.write(`stillage: ${whyUnusable(data, failure)}; exiting: ${remedies[failure]}\n`);
  // A regular exit could wait for ever: for a thread of the engine that waits for a lock.
  process.kill(process.pid, 'SIGKILL');
}
