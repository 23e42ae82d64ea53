import type { Database } from 'lmdb';
import { BlobDamaged, BlobMissing } from '../../ports/blob-store.ts';
import type { BlobDescription, BlobOwner, BlobRef, ByteRange, OwnedBlob } from '../../ports/blob-store.ts';
import { CryptoRandomness } from '../system/crypto-randomness.ts';
import { isSmallBlobRef, smallBlobRef, timeOf } from './blob-ref.ts';
import type { Committed, CommitParticipant } from './group-commit.ts';
import type { LmdbEnvironment } from './lmdb-environment.ts';

/** No larger than this. A value of some pages costs no more to write than the pages of the tree that it changes. */
export const smallBlobSize = 32 * 1024;

/** Removed in one transaction, so that writers are not kept waiting. */
const removalStep = 200;
/** Read at once by a listing. */
const listStep = 1000;
/** So many bytes wait for a transaction at the most. */
const maxWaiting = 4 * 1024 * 1024;

/** Of the value: the size of the bucket id, and of the key in 16 bits, little-endian; both; then the bytes. */
const textStart = 3;

/** Whatever takes small blobs for its transactions: the store itself, or the process that commits for all. */
export interface SmallBlobWrites {
  /** Takes a blob as it is to be stored: durable at the latest with the next write to the table that begins after the call. */
  accept(ref: BlobRef, value: Buffer): Promise<void>;
  remove(refs: readonly BlobRef[]): Promise<void>;
  abandon(refs: readonly BlobRef[]): void;
}

/**
 * Blobs of a few pages, in the environment of the table: they wait in memory for its next transaction and become durable with it, and so
 * with whatever refers to them, or before. A blob that nothing came to refer to costs no write at all. References
 * rise with time, so what is written together lies together.
 */
export class SmallBlobs implements CommitParticipant, SmallBlobWrites {
  readonly #environment: LmdbEnvironment;
  readonly #blobs: Database<Buffer, BlobRef>;
  readonly #randomness = new CryptoRandomness();
  readonly #writes: SmallBlobWrites;
  /** What is not known to be durable yet. */
  readonly #waiting = new Map<BlobRef, Buffer>();
  /** Of those, what a transaction has put of which nobody knows how it ended. */
  readonly #put = new Set<BlobRef>();
  #waitingBytes = 0;

  /** @param writes takes what is written, if another process commits */
  constructor(environment: LmdbEnvironment, writes?: SmallBlobWrites) {
    this.#environment = environment;
    this.#writes = writes ?? this;
    this.#blobs = environment.database('blobs', { encoding: 'binary' });
    environment.enlist(this);
  }

  /** Takes the bytes, which may be changed afterwards. They are durable at the latest with the next write to the environment. */
  async write(bytes: Uint8Array, owner: BlobOwner): Promise<BlobRef> {
    const ref = smallBlobRef(Date.now(), this.#randomness);
    await this.#writes.accept(ref, encode(bytes, owner));
    return ref;
  }

  async accept(ref: BlobRef, value: Buffer): Promise<void> {
    this.#environment.look();
    this.#waiting.set(ref, value);
    this.#waitingBytes += value.length;
    if (this.#waitingBytes > maxWaiting) {
      // Every transaction begins with the blobs that wait. Should it fail, so will the write that is to refer to this one, which knows what to say.
      await this.#environment.run(() => undefined).catch(() => undefined);
    }
  }

  /** Within a transaction, before what may refer to them: puts the blobs that wait. */
  begin(): Committed | undefined {
    if (this.#waiting.size === 0) return undefined;
    for (const [ref, value] of this.#waiting) {
      // What the transaction before this has put lies there, unless it failed.
      if (this.#put.has(ref) && this.#blobs.doesExist(ref)) continue;
      void this.#blobs.put(ref, value);
      this.#put.add(ref);
    }
    const refs = [...this.#waiting.keys()];
    return () => this.abandon(refs);
  }

  end(): void {}

  /** The bytes, or a range of them. @throws BlobMissing, and BlobDamaged if there are not so many */
  read(ref: BlobRef, size: number, range?: ByteRange): Uint8Array {
    const value = this.#value(ref);
    const start = bytesStart(value);
    const stored = value.length - start;
    if (stored !== size) throw new BlobDamaged(ref, size, Math.max(0, stored));
    if (range === undefined) return value.subarray(start);
    return value.subarray(start + range.first, start + range.last + 1);
  }

  /** What they are, and whose. @throws BlobMissing */
  describe(ref: BlobRef): OwnedBlob {
    const value = this.#value(ref);
    const start = bytesStart(value);
    const keyStart = textStart + value[0]!;
    const bucketId = value.toString('utf8', textStart, keyStart);
    const owner = { bucketId, key: value.toString('utf8', keyStart, start) };
    return { ...describe(ref, value), owner };
  }

  async remove(refs: readonly BlobRef[]): Promise<void> {
    // What no transaction has put yet never lies anywhere.
    const unput = refs.filter((ref) => this.#waiting.has(ref) && !this.#put.has(ref));
    this.abandon(refs);
    const left = refs.filter((ref) => !unput.includes(ref));
    for (let at = 0; at < left.length; at += removalStep) {
      const some = left.slice(at, at + removalStep);
      await this.#environment.run(() => some.forEach((ref) => void this.#blobs.remove(ref)));
    }
  }

  /** Keeps none of these in memory any longer. */
  abandon(refs: readonly BlobRef[]): void {
    for (const ref of refs) this.#forget(ref);
  }

  *list(): Generator<BlobDescription> {
    const waiting = new Set(this.#waiting.keys());
    yield* [...waiting].map((ref) => describe(ref, this.#value(ref)));
    for (let last: BlobRef | undefined; ;) {
      this.#environment.look();
      const range = last === undefined ? {} : { start: last, exclusiveStart: true };
      // Read to the end before it is told: nobody may hold a snapshot for as long as they like.
      const page = [...this.#blobs.getRange({ ...range, limit: listStep })];
      for (const { key, value } of page) if (!waiting.has(key)) yield describe(key, value);
      if (page.length < listStep) return;
      last = page.at(-1)!.key;
    }
  }

  /** Puts what lay elsewhere, as it lay there. */
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

/** Where the bytes begin; behind the end of a value that is cut so short that nobody can say. */
function bytesStart(value: Buffer): number {
  if (value.length < textStart) return textStart;
  return textStart + value[0]! + value.readUInt16LE(1);
}
