import { close, constants, fdatasync, open, write } from 'node:fs';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';

const closeFile = promisify(close);
const openFile = promisify(open);
const syncData = promisify(fdatasync);
const writeFile = promisify(write);

/** The number of bytes that are written before a sync of them begins. */
const syncEvery = 8 * 1024 * 1024;

/** Limits the files that are synced while they are written: each sync occupies a thread, and small requests need one, too. */
export class EarlySyncs {
  #left: number;

  /** @param most the number of files at a time */
  constructor(most: number) {
    this.#left = most;
  }

  /** Runs a sync, or returns undefined if too many are running. */
  run(sync: () => Promise<void>): Promise<void> | undefined {
    if (this.#left === 0) return undefined;
    this.#left -= 1;
    return sync().finally(() => (this.#left += 1));
  }
}

/**
 * A new file, written once from start to end, while the next buffer is being filled. The written part of a large file is synced meanwhile:
 * otherwise the disk would idle until the last byte arrives, and the client would then wait for the disk.
 */
export class FileWriter {
  readonly #path: string;
  readonly #early: Pick<EarlySyncs, 'run'>;
  #file: number | undefined;
  #created = false;
  #size = 0;
  #writing: Promise<void> = Promise.resolve();
  /** The early sync in progress. */
  #syncing: Promise<void> | undefined;
  /** The failure of an early sync. The system reports it only once, so a later sync does not repair it. */
  #failure: Error | undefined;
  /** The size of the file when the last sync began. */
  #synced = 0;

  /**
   * The first write creates the file, so that nothing has to be removed if the source fails before.
   * @param early limits syncs of files that are still being written
   */
  constructor(path: string, early: Pick<EarlySyncs, 'run'>) {
    this.#path = path;
    this.#early = early;
  }

  /** Starts writing a buffer. Resolves when the previous buffer is written and may be reused. */
  async put(buffer: Uint8Array): Promise<void> {
    await this.#writing;
    if (this.#size - this.#synced >= syncEvery && this.#syncing === undefined) this.#syncEarly();
    this.#writing = this.#append(buffer);
    // The next call reports the failure.
    this.#writing.catch(() => undefined);
  }

  /**
   * Writes the last buffer. Resolves when all bytes and the name are on disk.
   * @param syncName makes the name durable; called when the file exists. It runs at the same time as the sync of the bytes, since nothing
   *   refers to the file before both have ended
   */
  async finish(buffer: Uint8Array, syncName: () => Promise<void>): Promise<void> {
    await this.#writing;
    await this.#append(buffer);
    const named = syncName();
    // Reported below, unless the bytes cannot be synced.
    named.catch(() => undefined);
    await this.#syncing;
    if (this.#failure !== undefined) throw this.#failure;
    await syncData(this.#file!);
    await named;
    await this.#close();
  }

  /** Removes the file. Never fails: a file left over is an orphan. */
  async discard(): Promise<void> {
    await this.#writing.catch(() => undefined);
    await this.#syncing;
    if (this.#file !== undefined) await this.#close().catch(() => undefined);
    if (this.#created) await rm(this.#path, { force: true }).catch(() => undefined);
  }

  /** Syncs the bytes written up to now, at the same time as further writes. */
  #syncEarly(): void {
    const running = this.#early.run(() => syncData(this.#file!));
    if (running === undefined) return;
    this.#synced = this.#size;
    this.#syncing = running
      .catch((error: Error) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#syncing = undefined;
      });
  }

  async #append(buffer: Uint8Array): Promise<void> {
    if (!this.#created) {
      this.#file = await openFile(this.#path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
      this.#created = true;
    }
    for (let done = 0; done < buffer.length;) {
      const { bytesWritten } = await writeFile(this.#file!, buffer, done, buffer.length - done, this.#size);
      done += bytesWritten;
      this.#size += bytesWritten;
    }
  }

  async #close(): Promise<void> {
    const file = this.#file!;
    this.#file = undefined;
    await closeFile(file);
  }
}
