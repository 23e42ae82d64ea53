import { open as openEnvironment } from 'lmdb';
import type { Database, DatabaseOptions, Key, RootDatabase, RootDatabaseOptions } from 'lmdb';
import { ensureDirectory } from './durable-directory.ts';
import { GroupCommit } from './group-commit.ts';
import type { Frame } from './group-commit.ts';
import { checkTableFile, syncTableFile } from './table-file.ts';

/**
 * - `overlappingSync` would show a commit before it is durable, and acknowledge it then.
 * - `eventTurnBatching` groups writes, which {@link GroupCommit} does here; and it makes a promise that nobody can handle, so that
 *   a full disk would end the process.
 */
const options = { noSubdir: false, overlappingSync: false, eventTurnBatching: false };

/**
 * A file of several databases that share their transactions: what is written to any of them at one time is synced once. Several
 * processes may have it open.
 */
export class LmdbEnvironment {
  readonly #root: RootDatabase;
  readonly #commits: GroupCommit;
  #closed: Promise<void> | undefined;

  private constructor(root: RootDatabase) {
    this.#root = root;
    this.#commits = new GroupCommit(root);
  }

  /** Opens the environment in this directory, which is created if need be. */
  static async open(directory: string): Promise<LmdbEnvironment> {
    await ensureDirectory(directory);
    await checkTableFile(directory);
    const environment = new LmdbEnvironment(openEnvironment({ path: directory, ...options }));
    await syncTableFile(directory);
    return environment;
  }

  database<V, K extends Key>(name: string, format: DatabaseOptions & RootDatabaseOptions): Database<V, K> {
    return this.#root.openDB<V, K>(name, format);
  }

  /** From now on, every transaction has this at its beginning and its end. */
  frame(frame: Frame): void {
    this.#commits.frame(frame);
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
    return (this.#closed ??= this.#commits.settled().then(() => this.#root.close()));
  }

  #checkOpen(): void {
    if (this.#closed) throw new Error('the table is closed');
  }
}
