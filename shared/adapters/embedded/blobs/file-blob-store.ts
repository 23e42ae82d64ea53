import { close, closeSync, existsSync, fstatSync, open } from 'node:fs';
import { access, constants, mkdir, opendir, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  BlobChecksumsMissing,
  BlobDamaged,
  BlobMissing,
  BlobSizeDiffers,
  BlobsHeld,
  BlobsNotRemoved,
} from '../../../ports/blob-store.ts';
import type {
  BlobDescription,
  BlobOwner,
  BlobRef,
  BlobStore,
  ByteRange,
  BytesCheck,
  OwnedBlob,
} from '../../../ports/blob-store.ts';
import { WholeBytes } from '../../../ports/whole-bytes.ts';
import { CryptoRandomness } from '../../system/crypto-randomness.ts';
import { BlobChecksums, ChecksumWriter } from './blob-checksums.ts';
import { headerSize, readHeader, writeHeader } from './blob-file.ts';
import { BufferPool } from './buffer-pool.ts';
import { blobRef, directoryOf, directories, hasChecksums, isBlobRef, isSmallBlobRef, timeOf } from './blob-ref.ts';
import { DirectorySync } from './directory-sync.ts';
import { ensureDirectory, syncDirectory } from '../durable-directory.ts';
import { FileReader, OpenBlob, readStretch } from './file-reader.ts';
import { EarlySyncs, FileWriter } from './file-writer.ts';
import { moveSmallBlobs } from './former-small-blobs.ts';
import type { LmdbEnvironment } from '../table/lmdb-environment.ts';
import { makePrivate } from '../private-path.ts';
import { SmallBlobs, smallBlobSize, type SmallBlobWrites } from './small-blobs.ts';
import { isWritable } from './writable.ts';

const closeFile = promisify(close);
const openFile = promisify(open);

/** The size of writes in bytes; chunks of the source are collected up to it. */
const bufferSize = 256 * 1024;
/** The maximum number of such buffers, and of buffers for small blobs, kept for later uploads. */
const maxKeptBuffers = 32;
const maxKeptSmallBuffers = 128;
/** Blobs up to this size are read in one go, and their file is closed before the caller gets them. */
const smallRead = 256 * 1024;
/** The maximum number of files that are synced while they are written: with more, the disk is busy anyway. */
const maxEarlySyncs = 4;
/** The maximum number of files removed at the same time. */
const removalsAtOnce = 16;
/** What is said of the file of a write that a crash has ended. */
const unfinished = 'was never completely written';

/**
 * Stores each blob as a file under a generated name, spread over 256 directories; small blobs are in the table's
 * environment, as are the checksums of all others. A blob is written once and never changed. `write` resolves when the bytes and the name are on disk, or
 * certain to be with the next write to the table. A crash may leave unfinished files: no item refers to them, `list`
 * returns them like all others, and they do no harm.
 */
export class FileBlobStore implements BlobStore {
  /** The number of parts in which all blobs can be listed. */
  readonly parts = 1 + directories.length;
  readonly #root: string;
  readonly #environment: LmdbEnvironment;
  readonly #small: SmallBlobs;
  readonly #smallWrites: SmallBlobWrites;
  readonly #directories = new DirectorySync();
  readonly #earlySyncs = new EarlySyncs(maxEarlySyncs);
  readonly #randomness = new CryptoRandomness();
  readonly #buffers = new BufferPool(bufferSize, maxKeptBuffers);
  readonly #smallBuffers = new BufferPool(headerSize + smallBlobSize, maxKeptSmallBuffers);

  readonly #heldUntil: HeldUntil;

  private constructor(
    root: string,
    environment: LmdbEnvironment,
    heldUntil: HeldUntil = () => Promise.resolve(-Infinity),
    smallWrites?: SmallBlobWrites,
  ) {
    this.#root = root;
    this.#heldUntil = heldUntil;
    this.#environment = environment;
    this.#small = new SmallBlobs(environment, smallWrites);
    this.#smallWrites = smallWrites ?? this.#small;
  }

  /**
   * Attaches to the store in a directory that another process has opened and commits to.
   * @param smallWrites accepts small blobs for that process's transactions
   */
  static attach(
    root: string,
    environment: LmdbEnvironment,
    heldUntil: HeldUntil,
    smallWrites: SmallBlobWrites,
  ): FileBlobStore {
    return new FileBlobStore(root, environment, heldUntil, smallWrites);
  }

  /**
   * Opens the store in a directory, which is created if missing. The file system must be case-sensitive.
   * @param environment of the table whose items refer to the blobs
   * @param heldUntil default: nothing is held
   */
  static async open(root: string, environment: LmdbEnvironment, heldUntil?: HeldUntil): Promise<FileBlobStore> {
    await ensureDirectory(root);
    await makePrivate(root);
    const present = new Set(await readdir(root));
    await Promise.all(
      directories.map(async (name) => {
        const path = join(root, name);
        if (present.has(name)) return makePrivate(path);
        await mkdir(path, { mode: 0o700 }).catch(async (error: NodeJS.ErrnoException) => {
          // Another process opens it, too.
          if (error.code !== 'EEXIST') throw error;
          await makePrivate(path);
        });
      }),
    );
    const store = new FileBlobStore(root, environment, heldUntil);
    await moveSmallBlobs(join(root, 'small'), store.#small, environment);
    // Also for directories whose creator ended before they were durable.
    await syncDirectory(root);
    return store;
  }

  async write(
    bytes: AsyncIterable<Uint8Array>,
    owner: BlobOwner,
    length?: number,
  ): Promise<{ ref: BlobRef; size: number }> {
    let file: NewFile | undefined;
    let size = 0;
    const pool = length !== undefined && length <= smallBlobSize ? this.#smallBuffers : this.#buffers;
    let buffer = pool.take();
    let spare: Buffer | undefined;
    const checksums = new ChecksumWriter();
    try {
      writeHeader(buffer, owner);
      let filled = headerSize;
      let summed = headerSize;
      for await (const chunk of bytes) {
        size += chunk.length;
        for (let taken = 0; taken < chunk.length;) {
          if (filled === buffer.length) {
            file ??= this.#newFile();
            checksums.update(buffer.subarray(summed));
            await file.writer.put(buffer);
            [buffer, spare] = [spare ?? pool.take(), buffer];
            filled = 0;
            summed = 0;
          }
          const part = chunk.subarray(taken, taken + buffer.length - filled);
          buffer.set(part, filled);
          filled += part.length;
          taken += part.length;
        }
      }
      if (file === undefined && size <= smallBlobSize) {
        return { ref: await this.#small.write(buffer.subarray(headerSize, filled), owner), size };
      }
      file ??= this.#newFile();
      checksums.update(buffer.subarray(summed, filled));
      const directory = this.#directoryOf(file.ref);
      await file.writer.finish(buffer.subarray(0, filled), () => this.#directories.sync(directory));
      await this.#smallWrites.accept(file.ref, checksums.end());
      return { ref: file.ref, size };
    } catch (error) {
      await file?.writer.discard();
      throw error;
    } finally {
      // The writes have ended: the file is complete or was abandoned.
      pool.give(buffer);
      if (spare) pool.give(spare);
    }
  }

  async read(ref: BlobRef, size: number, range?: ByteRange): Promise<AsyncIterable<Uint8Array>> {
    if (isSmallBlobRef(ref)) return new WholeBytes(this.#small.read(ref, size, range));
    const stored = this.#small.storedChecksums(ref);
    const file = await this.#open(ref);
    let blob: OpenBlob | undefined;
    try {
      // The inode of an open file is in memory, so this does not wait for the disk.
      const present = fstatSync(file).size - headerSize;
      if (present !== size) throw new BlobSizeDiffers(ref, size, Math.max(0, present));
      blob = new OpenBlob(file, size, checksumsOf(ref, size, stored));
    } finally {
      if (blob === undefined) await closeFile(file);
    }
    const start = range?.first ?? 0;
    const end = range === undefined ? size : range.last + 1;
    if (end - start > smallRead) return FileReader.open(blob, start, end);
    try {
      return once(await blob.read(start, end));
    } finally {
      await blob.close();
    }
  }

  async remove(given: readonly BlobRef[]): Promise<void> {
    const heldUntil = await this.#heldUntil();
    const held = new Set(given.filter((ref) => (isBlobRef(ref) || isSmallBlobRef(ref)) && timeOf(ref) <= heldUntil));
    const refs = held.size === 0 ? given : given.filter((ref) => !held.has(ref));
    const waiting = refs.filter(isBlobRef).values();
    const left = new Set<BlobRef>();
    let cause: Error | undefined;
    const removeSome = async (): Promise<void> => {
      for (const ref of waiting) {
        try {
          await unlink(this.#pathOf(ref)).catch(unlessMissing);
        } catch (error) {
          left.add(ref);
          cause ??= error as Error;
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(removalsAtOnce, refs.length) }, removeSome));
    await this.#smallWrites.remove(refs.filter((ref) => !left.has(ref)));
    if (cause !== undefined) throw new BlobsNotRemoved([...left, ...held], cause.message, { cause });
    if (held.size > 0) throw new BlobsHeld(held);
  }

  abandon(refs: readonly BlobRef[]): void {
    this.#smallWrites.abandon(refs);
  }

  async *list(): AsyncIterable<BlobDescription> {
    for (let part = 0; part < this.parts; part += 1) yield* this.listPart(part);
  }

  /** Lists a part of all blobs: those of one directory, or all small ones. @param part from 0 to {@link parts} - 1 */
  async *listPart(part: number): AsyncIterable<BlobDescription> {
    if (part === 0) {
      yield* this.#small.list();
      return;
    }
    for await (const { name } of await opendir(join(this.#root, directories[part - 1]!))) {
      if (!isBlobRef(name)) continue;
      const found = await stat(this.#pathOf(name)).catch(unlessMissing);
      if (found) yield { ref: name, size: Math.max(0, found.size - headerSize), writtenAt: timeOf(name) };
    }
  }

  async describe(ref: BlobRef): Promise<OwnedBlob> {
    if (isSmallBlobRef(ref)) return this.#small.describe(ref);
    const file = await this.#open(ref);
    try {
      const fileSize = fstatSync(file).size;
      const header = fileSize < headerSize ? undefined : Buffer.from(await readStretch(file, 0, headerSize));
      return {
        ref,
        size: Math.max(0, fileSize - headerSize),
        writtenAt: timeOf(ref),
        owner: header && readHeader(header),
        ...(this.#small.isUnverified(ref) && { isUnverified: true }),
      };
    } finally {
      await closeFile(file);
    }
  }

  async addChecksums(ref: BlobRef, size: number, check: BytesCheck): Promise<boolean> {
    const checksums = new ChecksumWriter();
    for await (const chunk of await this.read(ref, size)) {
      checksums.update(chunk);
      await check.update(chunk);
    }
    if (!check.matches()) return false;
    await this.#small.addChecksums(ref, checksums.end(), () => isSmallBlobRef(ref) || existsSync(this.#pathOf(ref)));
    return true;
  }

  /**
   * Opens a blob as it is stored, with its owner: a small one's value, or the whole file of a larger one. Rejects as `read` does. It must be
   * closed.
   * @param memory for what is read of it, of {@link storedMemory} of the largest read
   */
  async stored(ref: BlobRef, memory: Buffer): Promise<StoredBlob> {
    if (isSmallBlobRef(ref)) {
      const value = this.#small.storedValue(ref);
      return {
        size: value.length,
        read: async (start, end) => value.subarray(start, end),
        close: () => undefined,
      };
    }
    const checksums = this.#small.storedChecksums(ref);
    const file = await this.#open(ref);
    try {
      const { size } = fstatSync(file);
      if (size < headerSize) throw new BlobDamaged(ref, unfinished);
      const blob = new OpenBlob(file, size - headerSize, checksumsOf(ref, size - headerSize, checksums));
      const read = async (start: number, end: number): Promise<Uint8Array> => {
        const bytes = await blob.readStored(start, end, memory);
        if (start < headerSize && readHeader(memory) === undefined) throw new BlobDamaged(ref, unfinished);
        return bytes;
      };
      // A file that was only read is closed at once: a message to a thread takes longer.
      return { size, read, close: () => closeSync(file) };
    } catch (error) {
      closeSync(file);
      throw error;
    }
  }

  async check(): Promise<{ readonly writable: boolean }> {
    await access(join(this.#root, directories[0]!), constants.R_OK | constants.X_OK);
    // The table's environment, which holds the small blobs, may be on another disk.
    const writable = await Promise.all([isWritable(this.#root), isWritable(this.#environment.directory)]);
    return { writable: !writable.includes(false) };
  }

  /** Returns the writer for small blobs that arrive from other processes of the service. */
  get smallWrites(): SmallBlobWrites {
    return this.#smallWrites;
  }

  /** Closes the environment when the pending writes have ended. */
  close(): Promise<void> {
    return this.#environment.close();
  }

  #newFile(): NewFile {
    const ref = blobRef(Date.now(), this.#randomness);
    return { ref, writer: new FileWriter(this.#pathOf(ref), this.#earlySyncs) };
  }

  async #open(ref: BlobRef): Promise<number> {
    // Names not generated by the store do not name a file, least of all one outside it.
    if (!isBlobRef(ref)) throw new BlobMissing(ref);
    return openFile(this.#pathOf(ref), constants.O_RDONLY).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? new BlobMissing(ref, { cause: error }) : error;
    });
  }

  #directoryOf(ref: BlobRef): string {
    return join(this.#root, directoryOf(ref));
  }

  #pathOf(ref: BlobRef): string {
    return join(this.#directoryOf(ref), ref);
  }
}

/**
 * Returns the time, in milliseconds since the epoch, up to which no blob is removed that was written until then. Called for each removal, after
 * it was decided.
 */
export type HeldUntil = () => Promise<number>;

/** An open blob in its stored form. */
export interface StoredBlob {
  /** Of the stored form, in bytes. */
  readonly size: number;
  /**
   * Reads the bytes from `start` up to but not including `end`. They are in its memory, until the next read.
   * @throws BlobDamaged if they are not those that were written
   */
  read(start: number, end: number): Promise<Uint8Array>;
  close(): void;
}

/** A file with its future name, created by the first write. */
interface NewFile {
  readonly ref: BlobRef;
  readonly writer: FileWriter;
}

/** Returns the checksums of a blob; undefined if it was written without. @throws BlobDamaged if they are lost or damaged */
function checksumsOf(ref: BlobRef, size: number, stored: Buffer | undefined): BlobChecksums | undefined {
  if (stored !== undefined) return new BlobChecksums(ref, size, stored);
  if (hasChecksums(ref)) throw new BlobChecksumsMissing(ref);
  return undefined;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
