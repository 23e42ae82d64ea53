import { crc32 } from 'node:zlib';
import type { Database } from 'lmdb';
import { BlobDamaged, BlobMissing, BlobSizeDiffers } from '../../../ports/blob-store.ts';
import type { BlobDescription, BlobOwner, BlobRef, ByteRange, OwnedBlob } from '../../../ports/blob-store.ts';
import { CryptoRandomness } from '../../system/crypto-randomness.ts';
import { BlobChecksums } from './blob-checksums.ts';
import { checksumOf, hasChecksums, isBlobRef, isSmallBlobRef, smallBlobRef, timeOf } from './blob-ref.ts';
import type { Committed, CommitParticipant } from '../table/group-commit.ts';
import type { LmdbEnvironment } from '../table/lmdb-environment.ts';

/**
 * The maximum size of a small blob in bytes. Writing a value of a few pages costs no more than writing the pages of the
 * tree that it changes.
 */
export const smallBlobSize = 32 * 1024;

/** The number of blobs removed in one transaction, limited so that writers are not kept waiting. */
const removalStep = 200;
/** The number of blobs that a listing reads in one go. */
const listStep = 1000;
/** The maximum number of bytes waiting for a transaction. */
const maxWaiting = 4 * 1024 * 1024;

/** The format of a value: the sizes of the bucket id and of the key (16 bits, little-endian); both; then the bytes. */
const textStart = 3;

/**
 * Accepts small blobs, and the checksums of large ones, for its transactions: the store itself, or the process that
 * commits for all.
 */
export interface SmallBlobWrites {
  /**
   * Accepts a small blob in its stored format, or the checksums of a large one. They are durable at the latest with the next write to the table that begins after
   * the call.
   */
  accept(ref: BlobRef, value: Buffer): Promise<void>;
  /** Removes small blobs, and the checksums of large ones: these with a later transaction, since they do no harm. */
  remove(refs: readonly BlobRef[]): Promise<void>;
  abandon(refs: readonly BlobRef[]): void;
}

/**
 * Blobs of a few pages, stored in the table's environment. They wait in memory for its next transaction, and become
 * durable with or before any item that refers to them. A blob that ends up without references may not be written at
 * all. References increase with time, so blobs written together are stored together.
 *
 * The reference of a small blob contains its checksum, so that what refers to it vouches for it. The checksums of large
 * blobs are kept here as well, in a separate database.
 */
export class SmallBlobs implements CommitParticipant, SmallBlobWrites {
  readonly #environment: LmdbEnvironment;
  readonly #blobs: Database<Buffer, BlobRef>;
  readonly #checksums: Database<Buffer, BlobRef>;
  readonly #randomness = new CryptoRandomness();
  readonly #writes: SmallBlobWrites;
  /** Blobs, and checksums of large ones, not yet known to be durable. */
  readonly #waiting = new Map<BlobRef, Buffer>();
  /** The ones that were put in a transaction whose outcome is unknown. */
  readonly #put = new Set<BlobRef>();
  /** Large blobs that were removed, and their checksums not yet. */
  readonly #removed = new Set<BlobRef>();
  #waitingBytes = 0;

  /** @param writes accepts blobs, if another process commits */
  constructor(environment: LmdbEnvironment, writes?: SmallBlobWrites) {
    this.#environment = environment;
    this.#writes = writes ?? this;
    this.#blobs = environment.database('blobs', { encoding: 'binary' });
    this.#checksums = environment.database('checksums', { encoding: 'binary' });
    environment.enlist(this);
  }

  /**
   * Accepts bytes, which the caller may change afterwards. They are durable at the latest with the next write to the
   * environment.
   */
  async write(bytes: Uint8Array, owner: BlobOwner): Promise<BlobRef> {
    const value = encode(bytes, owner);
    const ref = smallBlobRef(Date.now(), this.#randomness, crc32(value));
    await this.#writes.accept(ref, value);
    return ref;
  }

  async accept(ref: BlobRef, value: Buffer): Promise<void> {
    this.#environment.look();
    this.#waiting.set(ref, value);
    this.#waitingBytes += value.length;
    if (this.#waitingBytes > maxWaiting) {
      // Every transaction begins with the waiting blobs. If it fails, so does the write that refers to this one, which
      // reports the error.
      await this.#environment.run(() => undefined).catch(() => undefined);
    }
  }

  /** Puts what waits. To be called at the start of a transaction, before items that may refer to it. */
  begin(): Committed | undefined {
    if (this.#waiting.size === 0 && this.#removed.size === 0) return undefined;
    for (const [ref, value] of this.#waiting) {
      const database = isSmallBlobRef(ref) ? this.#blobs : this.#checksums;
      // Put by the previous transaction, unless it failed.
      if (this.#put.has(ref) && database.doesExist(ref)) continue;
      void database.put(ref, value);
      this.#put.add(ref);
    }
    const removed = [...this.#removed].slice(0, removalStep);
    for (const ref of removed) void this.#checksums.remove(ref);
    const refs = [...this.#waiting.keys()];
    return () => {
      this.abandon(refs);
      for (const ref of removed) this.#removed.delete(ref);
    };
  }

  end(): void {}

  /** Returns the bytes, or a range of them. @throws BlobMissing, BlobSizeDiffers, and BlobDamaged if any byte is wrong */
  read(ref: BlobRef, size: number, range?: ByteRange): Uint8Array {
    const value = this.#value(ref);
    const start = bytesStart(value);
    const stored = value.length - start;
    if (stored !== size) throw new BlobSizeDiffers(ref, size, Math.max(0, stored));
    this.#verify(ref, value);
    if (range === undefined) return value.subarray(start);
    return value.subarray(start + range.first, start + range.last + 1);
  }

  /** Returns a blob as it is stored. @throws BlobMissing, and BlobDamaged if any byte is wrong */
  storedValue(ref: BlobRef): Buffer {
    const value = this.#value(ref);
    this.#verify(ref, value);
    return value;
  }

  /** Returns the size, time and owner of a blob. @throws BlobMissing */
  describe(ref: BlobRef): OwnedBlob {
    const value = this.#value(ref);
    const start = bytesStart(value);
    const keyStart = textStart + value[0]!;
    const bucketId = value.toString('utf8', textStart, keyStart);
    const owner = { bucketId, key: value.toString('utf8', keyStart, start) };
    return { ...describe(ref, value), owner, ...(this.isUnverified(ref) && { isUnverified: true }) };
  }

  /** Returns the checksums of a large blob as they are stored, or undefined if there are none. */
  storedChecksums(ref: BlobRef): Buffer | undefined {
    this.#environment.look();
    if (!isBlobRef(ref)) return undefined;
    return this.#waiting.get(ref) ?? this.#checksums.getBinary(ref);
  }

  /** Returns whether an earlier version wrote a blob without checksums, and none were added since. */
  isUnverified(ref: BlobRef): boolean {
    return !hasChecksums(ref) && this.#added(ref) === undefined;
  }

  /**
   * Stores checksums of a blob that was written without, unless the blob has been removed.
   * @param exists tells whether a blob in a file still does
   */
  async addChecksums(ref: BlobRef, stored: Buffer, exists: () => boolean): Promise<void> {
    await this.#environment.run(() => {
      if (isSmallBlobRef(ref) ? this.#blobs.doesExist(ref) : exists()) void this.#checksums.put(ref, stored);
    });
  }

  #verify(ref: BlobRef, value: Buffer): void {
    if (!hasChecksums(ref)) this.#verifyFormer(ref, value.subarray(bytesStart(value)));
    else if (crc32(value) !== checksumOf(ref)) throw new BlobDamaged(ref, 'does not match its checksum');
  }

  /** Verifies a small blob of an earlier version, if it has been given checksums since. @throws BlobDamaged */
  #verifyFormer(ref: BlobRef, bytes: Uint8Array): void {
    const stored = this.#added(ref);
    if (stored !== undefined) new BlobChecksums(ref, bytes.length, stored).verify(bytes, 0);
  }

  #added(ref: BlobRef): Buffer | undefined {
    this.#environment.look();
    return this.#checksums.getBinary(ref);
  }

  async remove(refs: readonly BlobRef[]): Promise<void> {
    // What no transaction has put is not stored anywhere.
    const unput = new Set(refs.filter((ref) => this.#waiting.has(ref) && !this.#put.has(ref)));
    this.abandon(refs);
    const stored = refs.filter((ref) => !unput.has(ref));
    for (const ref of stored.filter(isBlobRef)) this.#removed.add(ref);
    const left = stored.filter(isSmallBlobRef);
    for (let at = 0; at < left.length; at += removalStep) {
      const some = left.slice(at, at + removalStep);
      await this.#environment.run(() => {
        for (const ref of some) {
          void this.#blobs.remove(ref);
          if (!hasChecksums(ref)) void this.#checksums.remove(ref);
        }
      });
    }
  }

  /** Drops these blobs from memory. */
  abandon(refs: readonly BlobRef[]): void {
    for (const ref of refs) this.#forget(ref);
  }

  *list(): Generator<BlobDescription> {
    const waiting = new Set([...this.#waiting.keys()].filter(isSmallBlobRef));
    yield* [...waiting].map((ref) => describe(ref, this.#value(ref)));
    for (let last: BlobRef | undefined; ;) {
      this.#environment.look();
      const range = last === undefined ? {} : { start: last, exclusiveStart: true };
      // Read completely before yielding, so that no caller holds a snapshot for an arbitrary time.
      const page = [...this.#blobs.getRange({ ...range, limit: listStep })];
      for (const { key, value } of page) if (!waiting.has(key)) yield describe(key, value);
      if (page.length < listStep) return;
      last = page.at(-1)!.key;
    }
  }

  /** Puts blobs from elsewhere in their stored format. */
  async adopt(blobs: readonly { readonly ref: BlobRef; readonly value: Buffer }[]): Promise<void> {
    await this.#environment.run(() => blobs.forEach(({ ref, value }) => void this.#blobs.put(ref, value)));
  }

  #value(ref: BlobRef): Buffer {
    this.#environment.look();
    if (!isSmallBlobRef(ref)) throw new BlobMissing(ref);
    const value = this.#waiting.get(ref) ?? this.#blobs.getBinary(ref);
    if (value === undefined) throw new BlobMissing(ref);
    return value;
  }

  #forget(ref: BlobRef): void {
    this.#waitingBytes -= this.#waiting.get(ref)?.length ?? 0;
    this.#waiting.delete(ref);
    this.#put.delete(ref);
  }
}

function encode(bytes: Uint8Array, { bucketId, key }: BlobOwner): Buffer {
  const bucketIdSize = Buffer.byteLength(bucketId);
  const keySize = Buffer.byteLength(key);
  if (bucketIdSize > 255 || keySize > 0xffff) throw new Error('the owner of a blob is too long');
  const value = Buffer.allocUnsafe(textStart + bucketIdSize + keySize + bytes.length);
  value[0] = bucketIdSize;
  value.writeUInt16LE(keySize, 1);
  value.write(bucketId, textStart);
  value.write(key, textStart + bucketIdSize);
  value.set(bytes, textStart + bucketIdSize + keySize);
  return value;
}

function describe(ref: BlobRef, value: Buffer): BlobDescription {
  return { ref, size: value.length - bytesStart(value), writtenAt: timeOf(ref) };
}

/** Returns the offset of the bytes, which is past the end of a value too short to tell. */
function bytesStart(value: Buffer): number {
  if (value.length < textStart) return textStart;
  return textStart + value[0]! + value.readUInt16LE(1);
}
