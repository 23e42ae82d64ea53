import { closeSync, mkdtempSync, openSync, rmdirSync, unlinkSync, write } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readStretch } from '../embedded/blobs/file-reader.ts';

const writeFile = promisify(write);

const chunkSize = 256 * 1024;

/**
 * A file without a name. Its bytes are on disk, and freed as soon as it is closed or the process ends for any reason.
 */
export class UnlinkedFile {
  readonly #file: number;
  #size = 0;
  /** The number of readers, plus one for the owner. */
  #users = 1;
  #released = false;

  private constructor(file: number) {
    this.#file = file;
  }

  /** Creates a file in the directory for temporary files. */
  static create(): UnlinkedFile {
    const directory = mkdtempSync(join(tmpdir(), 'stillage-'));
    const path = join(directory, 'blob');
    try {
      const file = openSync(path, 'wx+', 0o600);
      unlinkSync(path);
      return new UnlinkedFile(file);
    } finally {
      rmdirSync(directory);
    }
  }

  get size(): number {
    return this.#size;
  }

  /** Appends bytes. Must be awaited before the next call. */
  async append(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await writeFile(this.#file, bytes, done, bytes.length - done, this.#size);
      done += bytesWritten;
      this.#size += bytesWritten;
    }
  }

  /**
   * Reads from `start` up to but not including `end`, both within the file. @throws Error if it was released before the
   * first chunk
   */
  async *read(start: number, end: number): AsyncGenerator<Uint8Array> {
    if (this.#released) throw new Error('the blob was removed before it was read');
    this.#users += 1;
    try {
      for (let at = start; at < end; at += chunkSize) {
        yield await readStretch(this.#file, at, Math.min(chunkSize, end - at));
      }
    } finally {
      this.#leave();
    }
  }

  /** Closes the file, once its readers have ended. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#leave();
  }

  #leave(): void {
    this.#users -= 1;
    if (this.#users === 0) closeSync(this.#file);
  }
}
