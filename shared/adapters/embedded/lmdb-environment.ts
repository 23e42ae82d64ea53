import { open as openEnvironment } from 'lmdb';
import type { Database, DatabaseOptions, Key, RootDatabase, RootDatabaseOptions } from 'lmdb';
import { join } from 'node:path';
import { ensureDirectory } from './durable-directory.ts';
import { GroupCommit } from './group-commit.ts';
import type { CommitParticipant } from './group-commit.ts';
import { makePrivate } from './private-path.ts';
import { checkTableFile, syncTableFile } from './table-file.ts';

/**
 * - `overlappingSync` would show a commit before it is durable, and acknowledge it then.
 * - `eventTurnBatching` groups writes, which {@link GroupCommit} does here; and it makes a promise that nobody can handle, so that
 *   a full disk would end the process.
 * - `permissionsMode` is that of new files.
 */
const options = { noSubdir: false, overlappingSync: false, eventTurnBatching: false, permissionsMode: 0o600 };

/** What the engine says once it has given an environment up: an error of its lmdb.h. */
const panic = 'MDB_PANIC';

/** So often, in milliseconds, it is asked whether it has: a writer that waits for a transaction then is not told. */
const watchEvery = 1000;

/**
 * A file of several databases that share their transactions: what is written to any of them at one time is synced once. Several
 * processes may have it open.
 */
export class LmdbEnvironment {
  readonly directory: string;
  readonly #root: RootDatabase;
  readonly #commits: GroupCommit;
  readonly #watch: NodeJS.Timeout;
  #closed: Promise<void> | undefined;

  private constructor(directory: string, root: RootDatabase, onPanic: () => void) {
    this.directory = directory;
    this.#root = root;
    this.#commits = new GroupCommit(root);
    this.#watch = setInterval(() => this.#checkEngine(onPanic), watchEvery).unref();
  }

  /**
   * Opens the environment in this directory, which is created if need be. Directory and files are made private.
   * @param onPanic called once the engine refuses every read and write of this process, since it could not write one of the two pages that
   *   say where everything is. Only another process can go on
   */
  static async open(directory: string, onPanic: () => void = () => undefined): Promise<LmdbEnvironment> {
    await ensureDirectory(directory);
    await checkTableFile(directory);
    await Promise.all(['.', 'data.mdb', 'lock.mdb'].map((name) => makePrivate(join(directory, name))));
    const environment = new LmdbEnvironment(directory, openEnvironment({ path: directory, ...options }), onPanic);
    await syncTableFile(directory);
    return environment;
  }

  database<V, K extends Key>(name: string, format: DatabaseOptions & RootDatabaseOptions): Database<V, K> {
    return this.#root.openDB<V, K>(name, format);
  }

  /** From now on, every transaction has this at its beginning and its end. */
  enlist(participant: CommitParticipant): void {
    this.#commits.enlist(participant);
  }

  /** Before a read: leaves the snapshot that the engine keeps for a millisecond, since another process may have committed. */
  look(): void {
    this.#checkOpen();
    this.#root.resetReadTxn();
  }

  /** Runs a job in the next transaction: see {@link GroupCommit.run}. */
  run<T>(job: () => T): Promise<T> {
    this.#checkOpen();
    return this.#commits.run(job);
  }

  /** The ids of other processes that are running and have read from it. One that has only written is not told. */
  otherReaders(): readonly number[] {
    this.#root.readerCheck();
    const pids = [...this.#root.readerList().matchAll(/^ *(\d+) /gm)].map(([, pid]) => Number(pid));
    return pids.filter((pid) => pid !== process.pid);
  }

  /** Waits for the writes under way. What was acknowledged is durable without it. */
  close(): Promise<void> {
    clearInterval(this.#watch);
    return (this.#closed ??= this.#commits.settled().then(() => this.#root.close()));
  }

  /** Tells whether the engine has given up. */
  #checkEngine(onPanic: () => void): void {
    try {
      this.#root.resetReadTxn();
      this.#root.doesExist('nothing');
    } catch (error) {
      // The first read that is refused has the code of it, -30795; later ones have another one, and both say so.
      if (!(error as Error).message.includes(panic)) return;
      clearInterval(this.#watch);
      onPanic();
    }
  }

  #checkOpen(): void {
    if (this.#closed) throw new Error('the table is closed');
  }
}
