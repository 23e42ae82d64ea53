import { open as openEnvironment } from 'lmdb';
import type { Database, DatabaseOptions, Key, RootDatabase, RootDatabaseOptions } from 'lmdb';
import { readFileSync, statSync, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureDirectory } from '../durable-directory.ts';
import { GroupCommit } from './group-commit.ts';
import type { CommitParticipant } from './group-commit.ts';
import { giveToOwnerOf, makePrivate } from '../private-path.ts';
import { Moment } from './moment.ts';
import { checkTableAccess, checkTableFile, ensureTableFile, syncTableFile } from '../table-file/table-file.ts';

/**
 * - `overlappingSync` would make commits visible before they are durable, and acknowledge them only then.
 * - `eventTurnBatching` groups writes, which {@link GroupCommit} does instead; it also creates a promise that cannot be
 *   handled, so that a full disk would end the process.
 * - `permissionsMode` is the mode of new files.
 */
const options = { noSubdir: false, overlappingSync: false, eventTurnBatching: false, permissionsMode: 0o600 };

/**
 * Addresses that a table gets at once, in bytes: no memory, and no disk. Without it the engine maps 128 KiB and doubles that as the table
 * grows. If another process makes it grow, the thread that reads and the one that writes can both do so at the same moment, and the engine
 * then notes a map as larger than it is: on closing, it unmaps what lies behind it, such as the stack of a thread (mdb_env_set_mapsize and
 * mdb_env_close0 in mdb.c). A table beyond this size is mapped as before.
 */
const mapSize = 64 * 1024 ** 3;

/** Opens the engine's environment in a directory. It ends the process if it does not get the addresses: with a limit it does not ask. */
function openRoot(path: string): RootDatabase {
  return openEnvironment({ path, ...options, ...(!hasAddressLimit() && { mapSize }) });
}

/** Tells whether the addresses of this process are limited: `ulimit -v`. */
function hasAddressLimit(): boolean {
  try {
    return !/^Max address space +unlimited/m.test(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    // Not Linux, where this limit is not enforced or does not exist.
    return false;
  }
}

/** The name of the engine's error (in lmdb.h) after it has given up on an environment. */
const panic = 'MDB_PANIC';

/** The interval, in milliseconds, of checks for failures: a writer waiting for a transaction is not told. */
const watchEvery = 1000;

/** The number of checks in a row that must miss the file before it counts as moved. */
const checksUntilMoved = 2;

/**
 * A failure after which an environment is of no more use in this process:
 * - `refused`: the engine refuses all reads and writes because it could not write one of its two meta pages. Only
 *   another process can continue.
 * - `moved`: the file is no longer at its path. What is written still ends up in it, wherever it is now, but what is
 *   looked up by its path does not.
 * - `unlocked`: the lock file is no longer at its path. A process that opens the table now does not know what this one reads, and does not
 *   wait for its transactions.
 */
export type EnvironmentFailure = 'refused' | 'moved' | 'unlocked';

/**
 * A file of several databases that share transactions, so that concurrent writes to any of them are synced once.
 * Several processes may have it open.
 */
export class LmdbEnvironment {
  readonly directory: string;
  readonly #root: RootDatabase;
  readonly #commits: GroupCommit;
  readonly #file: Stats;
  readonly #lockFile: Stats;
  readonly #watch: NodeJS.Timeout;
  #checksMissed = 0;
  #hasLooked = false;
  #closed: Promise<void> | undefined;

  private constructor(
    directory: string,
    root: RootDatabase,
    onFailure: (failure: EnvironmentFailure) => void,
    onCommitFailure: (cause: unknown) => void,
  ) {
    this.directory = directory;
    this.#root = root;
    this.#commits = new GroupCommit(root, onCommitFailure);
    this.#file = statSync(join(directory, 'data.mdb'));
    this.#lockFile = statSync(join(directory, 'lock.mdb'));
    const check = async (): Promise<void> => {
      const failure = this.#isRefused() ? 'refused' : await this.#missed();
      if (failure === undefined || this.#closed) return;
      clearInterval(this.#watch);
      onFailure(failure);
    };
    this.#watch = setInterval(() => void check(), watchEvery).unref();
  }

  /**
   * Opens the environment in a directory, which is created if missing. Makes the directory and its files private.
   * @param onFailure called once. @param onCommitFailure called with the cause when a transaction could not be committed
   */
  static async open(
    directory: string,
    onFailure: (failure: EnvironmentFailure) => void = () => undefined,
    onCommitFailure: (cause: unknown) => void = () => undefined,
  ): Promise<LmdbEnvironment> {
    await ensureDirectory(directory);
    await ensureTableFile(directory, (draft) => openRoot(draft).close());
    await checkTableFile(directory);
    await Promise.all(['.', 'data.mdb', 'lock.mdb'].map((name) => makePrivate(join(directory, name))));
    await checkTableAccess(directory);
    const root = openRoot(directory);
    await checkReads(root);
    // A command that root runs may have created the lock file; the service runs as another user.
    if (process.getuid?.() === 0) await giveToOwnerOf(join(directory, 'data.mdb'), join(directory, 'lock.mdb'));
    const environment = new LmdbEnvironment(directory, root, onFailure, onCommitFailure);
    await syncTableFile(directory);
    return environment;
  }

  database<V, K extends Key>(name: string, format: DatabaseOptions & RootDatabaseOptions): Database<V, K> {
    return endingFailedRanges(this.#root.openDB<V, K>(name, format));
  }

  /** Opens all databases as they are now: what is acknowledged, and nothing that is committed later. */
  moment(): Moment {
    this.#checkOpen();
    return new Moment(this.#root, (name) => this.database(name, { encoding: 'binary', keyEncoding: 'binary' }));
  }

  /** Adds hooks to all later transactions. */
  enlist(participant: CommitParticipant): void {
    this.#commits.enlist(participant);
  }

  /**
   * Call this before a read. Releases the snapshot that the engine keeps for a millisecond, since another process
   * may have committed. Reads that run without returning to the event loop share a snapshot: a new one takes the engine a timer, and
   * nothing that it would have to show can arrive meanwhile. The engine itself releases it when it acknowledges a commit of this process.
   */
  look(): void {
    this.#checkOpen();
    if (this.#hasLooked) return;
    this.#hasLooked = true;
    this.#root.resetReadTxn();
    // Runs after the reactions to all promises that are settled by then.
    process.nextTick(() => (this.#hasLooked = false));
  }

  /** Runs a job in the next transaction: see {@link GroupCommit.run}. */
  run<T>(job: () => T): Promise<T> {
    this.#checkOpen();
    return this.#commits.run(job);
  }

  /**
   * Tells whether a commit that has just failed has certainly changed nothing. A commit becomes visible by its last step, the write of a
   * meta page, and if that fails, the engine refuses everything from then on (mdb_txn_commit and mdb_env_write_meta in
   * mdb.c). One that failed before that, as on a full disk, has changed nothing.
   */
  hasChangedNothing(): boolean {
    return !this.#isRefused();
  }

  /**
   * Returns the ids of other running processes that have read from the environment. Processes that have only written
   * are not included.
   */
  otherReaders(): readonly number[] {
    this.#root.readerCheck();
    return readersOf(this.#root).filter((pid) => pid !== process.pid);
  }

  /** Waits for pending writes. Acknowledged writes are durable without it. */
  close(): Promise<void> {
    clearInterval(this.#watch);
    return (this.#closed ??= this.#commits.settled().then(() => this.#root.close()));
  }

  /** Tells whether the engine has given up. */
  #isRefused(): boolean {
    try {
      this.#root.resetReadTxn();
      this.#root.doesExist('nothing');
      return false;
    } catch (error) {
      // The first refused read has its code, -30795; later ones have another code, but the same text.
      return (error as Error).message.includes(panic);
    }
  }

  /**
   * Tells which file is not at its path: the table's for some checks. Of the lock file a single check tells, as a process that starts creates
   * another.
   */
  async #missed(): Promise<EnvironmentFailure | undefined> {
    const isMissed = await isAnother(join(this.directory, 'data.mdb'), this.#file);
    this.#checksMissed = isMissed ? this.#checksMissed + 1 : 0;
    if (this.#checksMissed >= checksUntilMoved) return 'moved';
    return !isMissed && (await isAnother(join(this.directory, 'lock.mdb'), this.#lockFile)) ? 'unlocked' : undefined;
  }

  #checkOpen(): void {
    if (this.#closed) throw new Error('the table is closed');
  }
}

type Range = ReturnType<Database['getRange']> & { iterate(): Iterator<unknown> };

/**
 * Makes a database end a range that it cannot read on, because of a damaged page. The engine would otherwise use the failed snapshot for every
 * later read of anything, until the next commit, and none of the pages that the snapshot shows could be used again until the process ends.
 */
function endingFailedRanges<V, K extends Key>(database: Database<V, K>): Database<V, K> {
  const getRange = database.getRange.bind(database);
  database.getRange = (range) => {
    const entries = getRange(range) as Range & ReturnType<typeof getRange>;
    const iterate = entries.iterate.bind(entries);
    entries.iterate = () => {
      const iterator = iterate();
      // A count comes in place of an iterator.
      if (typeof iterator !== 'object') return iterator;
      const next = iterator.next.bind(iterator);
      iterator.next = () => {
        try {
          return next();
        } catch (error) {
          iterator.return?.();
          throw error;
        }
      };
      return iterator;
    };
    return entries;
  };
  return database;
}

/** Tells whether another file, or none, is at a path. */
function isAnother(path: string, { dev, ino }: Stats): Promise<boolean> {
  return stat(path).then(
    (found) => found.dev !== dev || found.ino !== ino,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT' || error.code === 'ENOTDIR',
  );
}

/**
 * Reads once. The engine knows who reads by the ids of processes, so two in different containers that have the same id, as the first one of
 * each has, cannot both read.
 */
async function checkReads(root: RootDatabase): Promise<void> {
  try {
    root.doesExist('nothing');
  } catch (error) {
    // It has not read, so the entry with its id is that of another process.
    const isClash = readersOf(root).includes(process.pid);
    forgetRead(root);
    await root.close();
    if (!isClash) throw error;
    throw new Error(
      `a process of another container, with the same process id as this one (${process.pid}), uses it: run commands in the container of the service`,
      { cause: error },
    );
  }
}

/** Ends a read that has failed, which the engine would otherwise do in a timer, with an exception that ends the process. */
function forgetRead(root: RootDatabase): void {
  try {
    root.resetReadTxn();
  } catch {
    // It has forgotten it before it fails.
  }
}

/** Returns the ids of the processes that have read from an environment. */
function readersOf(root: RootDatabase): number[] {
  return [...root.readerList().matchAll(/^ *(\d+) /gm)].map(([, pid]) => Number(pid));
}
