/**
 * The blob store port: immutable byte strings under references that the store invents. A reference owes nothing to a
 * bucket's or an object's name. Held by `test/contract/blob-store.ts`, which runs over every adapter.
 */

/** Names a blob: 24 to 64 characters of `[A-Za-z0-9_-]`. */
export type BlobRef = string;

/** The first and the last byte wanted, both inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** What is written beside the bytes so that a scrub can tell whose they were. */
export interface BlobOwner {
  readonly bucketId: string;
  readonly key: string;
}

export interface BlobDescription {
  readonly ref: BlobRef;
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly writtenAt: number;
}

/** A blob, and whose bytes they are: undefined if its writing was never finished. */
export interface OwnedBlob extends BlobDescription {
  readonly owner: BlobOwner | undefined;
}

export interface BlobStore {
  /**
   * Stores the bytes and returns once they are durable, or will be before any write to the table that begins after it: nothing can
   * refer to a blob that a crash takes. If `bytes` throws, nothing is left behind (or only what a scrub
   * finds) and the error passes through unchanged.
   * @param length the number of bytes if it is known beforehand: a hint, not a check
   */
  write(bytes: AsyncIterable<Uint8Array>, owner: BlobOwner, length?: number): Promise<{ ref: BlobRef; size: number }>;

  /**
   * Opens a blob, or a range of it. Resolves once the blob is known to exist and to have so many bytes; rejects with {@link BlobMissing} or
   * {@link BlobDamaged} otherwise. What is read later has the length that was asked for, or reading it throws.
   * Whoever stops reading early calls `return()` on the iterator (as `for await` does), which frees the file or socket.
   * @param size of the whole blob, in bytes, as whatever refers to it says
   * @param range within it
   */
  read(ref: BlobRef, size: number, range?: ByteRange): Promise<AsyncIterable<Uint8Array>>;

  /** Removes blobs. One that is not there is no error. Rejects with {@link BlobsNotRemoved} if only some could be removed. */
  remove(refs: readonly BlobRef[]): Promise<void>;

  /**
   * After a write to the table of which nobody knows how it ended: no other will refer to these blobs. They stay as far as they are durable;
   * what is kept for a later write need not be kept any longer.
   */
  abandon(refs: readonly BlobRef[]): void;

  /** Every blob, in no particular order. */
  list(): AsyncIterable<BlobDescription>;

  /** One blob without its bytes. Rejects with {@link BlobMissing}. */
  describe(ref: BlobRef): Promise<OwnedBlob>;

  /** Returns whether the store takes new bytes: not on a full or read-only disk. Rejects if it cannot be read either. */
  check(): Promise<{ readonly writable: boolean }>;
}

/** The blob of this reference is not as long as whatever refers to it says. */
export class BlobDamaged extends Error {
  /** @param stored how many bytes there are; undefined if that is not known */
  constructor(ref: BlobRef, size: number, stored: number | undefined, options?: ErrorOptions) {
    super(`blob ${ref} has ${stored ?? 'another number of'} bytes instead of ${size}`, options);
    this.name = 'BlobDamaged';
  }
}

/** The blob of this reference is not in the store. */
export class BlobMissing extends Error {
  constructor(ref: BlobRef, options?: ErrorOptions) {
    super(`blob ${ref} is missing`, options);
    this.name = 'BlobMissing';
  }
}

/** Some blobs could not be removed. All others of the call are gone. */
export class BlobsNotRemoved extends Error {
  readonly refs: ReadonlySet<BlobRef>;

  constructor(refs: Iterable<BlobRef>, reason: string, options?: ErrorOptions) {
    const all = new Set(refs);
    super(`${all.size} blobs could not be removed: ${reason}`, options);
    this.name = 'BlobsNotRemoved';
    this.refs = all;
  }
}
