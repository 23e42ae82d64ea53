import { close, constants, fdatasync, open, write } from 'node:fs';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';

const closeFile = promisify(close);
const openFile = promisify(open);
const syncData = promisify(fdatasync);
const writeFile = promisify(write);

/** A new file, written once from start to end, while the next buffer is being filled. */
export class FileWriter {
  readonly #path: string;
  #file: number | undefined;
  #created = false;
  #size = 0;
  #writing: Promise<void> = Promise.resolve();

  /** The first write creates the file, so that nothing has to be removed if the source fails before. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Starts writing a buffer. Resolves when the previous buffer is written and may be reused. */
  async put(buffer: Uint8Array): Promise<void> {
    await this.#writing;
    this.#writing = this.#append(buffer);
    // The next call reports the failure.
    this.#writing.catch(() => undefined);
  }

  /**
   * Writes the last buffer. Resolves when all bytes and the name are on disk.
   * @param syncName makes the name durable; called when the file exists. It goes on beside the sync of the bytes, since nothing
   *   refers to the file before both have ended
   */
  async finish(buffer: Uint8Array, syncName: () => Promise<void>): Promise<void> {
    await this.put(buffer);
    await this.#writing;
    const named = syncName();
    // Reported below, unless the bytes cannot be synced.
    named.catch(() => undefined);
    await syncData(this.#file!);
    await named;
    await this.#close();
  }

  /** Removes the file. Never fails: a file left over is an orphan. */
  async discard(): Promise<void> {
    await this.#writing.catch(() => undefined);
    if (this.#file !== undefined) await this.#close().catch(() => undefined);
    if (this.#created) await rm(this.#path, { force: true }).catch(() => undefined);
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
