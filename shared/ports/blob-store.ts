/**
 * The blob store port: immutable byte strings under references that the store generates. A reference does not depend on
 * the names of the bucket and the object. `test/contract/blob-store.ts` tests every adapter against this contract.
 */

/** The reference of a blob: 24 to 64 characters of `[A-Za-z0-9_-]`. */
export type BlobRef = string;

/** A range of bytes, both ends inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** The owner of a blob, stored with its bytes so that a scrub can identify them. */
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

/** A blob with its owner, which is undefined if writing the blob was never finished. */
export interface OwnedBlob extends BlobDescription {
  readonly owner: BlobOwner | undefined;
  /** Set for a blob whose bytes `read` cannot verify, as an earlier version wrote it without checksums. */
  readonly isUnverified?: true;
}

/** Judges the bytes of a blob, given in order. */
export interface BytesCheck {
  /** May take its time: the next bytes wait for it. */
  update(bytes: Uint8Array): void | Promise<void>;
  /** Called once, after the last byte. */
  matches(): boolean;
}

export interface BlobStore {
  /**
   * Stores bytes. Resolves once they are durable, or certain to be before any later write to the table, so that nothing
   * refers to a blob that a crash loses. If `bytes` throws, stores nothing (or leaves only what a scrub finds) and
   * rejects with the same error.
   * @param length the number of bytes if known in advance: a hint, not a check
   */
  write(bytes: AsyncIterable<Uint8Array>, owner: BlobOwner, length?: number): Promise<{ ref: BlobRef; size: number }>;

  /**
   * Opens a blob, or a range of it. Resolves once the blob is known to exist with this size; otherwise rejects with
   * {@link BlobMissing} or {@link BlobSizeDiffers}. Iterating yields exactly the requested bytes, or throws, and yields
   * no byte that the store knows to differ from what was written: {@link BlobDamaged}. Callers that stop early must call `return()` on the iterator (as `for await` does) to free the file or socket.
   * @param size of the whole blob in bytes, as recorded by the item that refers to it
   * @param range within the blob
   */
  read(ref: BlobRef, size: number, range?: ByteRange): Promise<AsyncIterable<Uint8Array>>;

  /**
   * Removes blobs. Ignores those that do not exist. Rejects with {@link BlobsNotRemoved} if some could not be removed.
   */
  remove(refs: readonly BlobRef[]): Promise<void>;

  /**
   * Tells the store that no later write to the table will refer to these blobs. Called after a write with an unknown
   * outcome. Durable blobs stay; anything held back for a later write may be dropped.
   */
  abandon(refs: readonly BlobRef[]): void;

  /** Lists all blobs, in no particular order. */
  list(): AsyncIterable<BlobDescription>;

  /** Describes a blob without reading its content. Rejects with {@link BlobMissing}. */
  describe(ref: BlobRef): Promise<OwnedBlob>;

  /**
   * Stores checksums of the bytes that a blob has now, so that `read` verifies it from now on. Only of stores whose blobs
   * can be {@link OwnedBlob.isUnverified}. Resolves once they are durable. Rejects as `read` does.
   * @param size of the whole blob in bytes
   * @param check of the bytes
   * @returns whether the bytes passed it; if not, nothing is stored
   */
  addChecksums?(ref: BlobRef, size: number, check: BytesCheck): Promise<boolean>;

  /** Tells whether the store accepts writes, which a full or read-only disk does not. Rejects if it cannot be read. */
  check(): Promise<{ readonly writable: boolean }>;
}

/** A blob is not what was written: its size is not the one recorded, or its bytes do not match their checksums. */
export class BlobDamaged extends Error {
  /** @param damage the predicate of a sentence about the blob, such as `has lost its checksums` */
  constructor(ref: BlobRef, damage: string, options?: ErrorOptions) {
    super(`blob ${ref} ${damage}`, options);
    this.name = 'BlobDamaged';
  }
}

/** The size of a blob is not the one recorded. */
export class BlobSizeDiffers extends BlobDamaged {
  /** @param stored the actual size in bytes, or undefined if unknown */
  constructor(ref: BlobRef, size: number, stored: number | undefined, options?: ErrorOptions) {
    super(ref, `has ${stored ?? 'a different number of'} bytes instead of ${size}`, options);
    this.name = 'BlobSizeDiffers';
  }
}

/** The checksums of a blob do not exist, although it was written with some: they were lost, or the write was never finished. */
export class BlobChecksumsMissing extends BlobDamaged {
  constructor(ref: BlobRef) {
    super(ref, 'has lost its checksums');
    this.name = 'BlobChecksumsMissing';
  }
}

/** The store is overloaded or cannot be reached. What was being written has no reference, as if it were not there; a later attempt may succeed. */
export class BlobsBusy extends Error {
  constructor(options?: ErrorOptions) {
    super('the blob store is too busy to answer', options);
    this.name = 'BlobsBusy';
  }
}

/** The blob is not in the store. */
export class BlobMissing extends Error {
  constructor(ref: BlobRef, options?: ErrorOptions) {
    super(`blob ${ref} is missing`, options);
    this.name = 'BlobMissing';
  }
}

/** Some blobs could not be removed. All others of the call were. */
export class BlobsNotRemoved extends Error {
  readonly refs: ReadonlySet<BlobRef>;

  constructor(refs: Iterable<BlobRef>, reason: string, options?: ErrorOptions) {
    const all = new Set(refs);
    super(`${all.size} blobs could not be removed: ${reason}`, options);
    this.name = 'BlobsNotRemoved';
    this.refs = all;
  }
}

/** Some blobs were not removed because a backup that runs needs them: once it has ended, they can be. */
export class BlobsHeld extends BlobsNotRemoved {
  constructor(refs: Iterable<BlobRef>) {
    super(refs, 'a backup needs them until it has ended');
    this.name = 'BlobsHeld';
  }
}
