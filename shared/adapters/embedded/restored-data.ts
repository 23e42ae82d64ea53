import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { directories, directoryOf, isBlobRef, isSmallBlobRef } from './blobs/blob-ref.ts';
import { ensureDirectory, syncDirectory } from './durable-directory.ts';
import { StoredEntries } from './table-file/stored-entries.ts';
import type { StoredEntry } from './table-file/table-pages.ts';

/** A new table and its blobs, made of what is stored in others. */
export class RestoredData {
  readonly #root: string;
  readonly #entries: StoredEntries;
  #putting: Promise<void> = Promise.resolve();

  private constructor(root: string, entries: StoredEntries) {
    this.#root = root;
    this.#entries = entries;
  }

  /** @param data an empty directory */
  static async create(data: string): Promise<RestoredData> {
    const entries = await StoredEntries.create(join(data, 'table'));
    const root = join(data, 'blobs');
    for (const name of directories) await ensureDirectory(join(root, name));
    return new RestoredData(root, entries);
  }

  /** Puts an entry of a database. May be called while another is put. */
  put(entry: StoredEntry): Promise<void> {
    return (this.#putting = this.#putting.then(() => this.#entries.put(entry)));
  }

  /** Writes a part of the stored form of a blob. @throws Error if it is no reference of a blob */
  async write(ref: string, start: number, bytes: Buffer): Promise<void> {
    if (isSmallBlobRef(ref) && start === 0) return this.put({ database: 'blobs', key: Buffer.from(ref), value: bytes });
    if (!isBlobRef(ref)) throw new Error(`${ref} is not the reference of a blob`);
    const path = join(this.#root, directoryOf(ref), ref);
    const file = await open(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
    try {
      for (let done = 0; done < bytes.length;) {
        done += (await file.write(bytes, done, bytes.length - done, start + done)).bytesWritten;
      }
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  /** Resolves once all is durable. */
  async close(): Promise<void> {
    await this.#putting;
    await this.#entries.close();
    for (const name of directories) await syncDirectory(join(this.#root, name));
    await syncDirectory(this.#root);
  }
}
