import { close, constants, fdatasync, open, write } from 'node:fs';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';

const closeFile = promisify(close);
const openFile = promisify(open);
const syncData = promisify(fdatasync);
const writeFile = promisify(write);

/** A new file, written once from front to back, while the next buffer is being filled. */
export class FileWriter {
  readonly #path: string;
  #file: number | undefined;
  #created = false;
  #size = 0;
  #writing: Promise<void> = Promise.resolve();

  /** The file is created by the first write, so that nothing is to be removed if the source fails before. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Begins to write the buffer, and resolves once the one before it is written and may be filled again. */
  async put(buffer: Uint8Array): Promise<void> {
    await this.#writing;
    this.#writing = this.#append(buffer);
    // The failure is told by the next call.
    this.#writing.catch(() => undefined);
  }

  /** Writes the last buffer, and resolves once all bytes are on the disk. The name is durable when its directory is synced. */
  async finish(buffer: Uint8Array): Promise<void> {
    await this.put(buffer);
    await this.#writing;
    await syncData(this.#file!);
    await this.#close();
  }

  /** Removes what was written. Never fails: what stays is an orphan. */
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
