import { createHash } from 'node:crypto';
import type { Randomness } from '../ports/randomness.ts';
import { pieceBytes } from './entry-names.ts';
import { DamagedFile, SealedFile, SealedFileWriter } from './sealed-file.ts';

/*
 * A pack is a sealed file of entries, one in each section. Its end section is JSON, the list of names and sizes of the entries. A pack is
 * named by the SHA-256 of its bytes, and never changed.
 */

/** The size after which a pack is written, in bytes. */
const packBytes = 16 * 1024 * 1024;
/** The largest number of entries in a pack, so that places are small numbers. */
const maxEntries = 60_000;
/** The memory for a pack, in bytes: what it may have before and after its last entry, a piece of a blob. */
export const packMemory = packBytes + pieceBytes + 4 * 1024 * 1024;
export const packsFolder = 'packs/';

/** The name of an entry, and the size of its content in bytes. */
export type PackEntry = readonly [name: string, size: number];

/** Returns the name of the file of a pack. */
export function packFile(id: string): string {
  return `${packsFolder}${id.slice(0, 2)}/${id}`;
}

/** Returns the id of the pack in a file; undefined if it is none. */
export function packOf(file: string): string | undefined {
  const id = file.slice(packsFolder.length + 3);
  return file === packFile(id) && /^[0-9a-f]{64}$/.test(id) ? id : undefined;
}

/** A pack that is being filled. */
export class PackWriter {
  readonly entries: PackEntry[] = [];
  readonly #file: SealedFileWriter;

  /** @param memory of {@link packMemory} bytes, used until the caller is done with the pack */
  constructor(key: Uint8Array, randomness: Randomness, memory: Buffer) {
    this.#file = new SealedFileWriter(key, 'pack', randomness.bytes(32), memory);
  }

  get isFull(): boolean {
    return this.#file.size >= packBytes || this.entries.length >= maxEntries;
  }

  /** Adds an entry. @returns its number */
  add(name: string, content: Uint8Array): number {
    this.#file.append(content);
    this.entries.push([name, content.length]);
    return this.entries.length - 1;
  }

  /** Returns the pack with its id. */
  finish(): { readonly id: string; readonly bytes: Buffer } {
    const bytes = this.#file.finish(Buffer.from(JSON.stringify(this.entries)));
    return { id: idOf(bytes), bytes };
  }
}

/** A pack that was read. */
export class Pack {
  readonly entries: readonly PackEntry[];
  readonly #file: SealedFile;

  /** @throws DamagedFile if these are not the bytes that were written */
  constructor(key: Uint8Array, id: string, bytes: Uint8Array) {
    if (idOf(bytes) !== id) throw new DamagedFile();
    this.#file = new SealedFile(key, 'pack', bytes);
    this.entries = JSON.parse(this.#file.end.toString()) as readonly PackEntry[];
  }

  /** Yields the contents of the wanted entries, in order. To be called once. @throws DamagedFile */
  *contents(isWanted: (entry: number) => boolean): Generator<readonly [entry: number, name: string, content: Buffer]> {
    for (const [number, [name, size]] of this.entries.entries()) {
      if (isWanted(number)) yield [number, name, this.#file.next(size)];
      else this.#file.skip(size);
    }
  }
}

function idOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
