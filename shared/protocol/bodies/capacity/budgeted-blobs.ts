import { S3Error } from '../../../errors/s3-error.ts';
import type {
  BlobDescription,
  BlobOwner,
  BlobRef,
  BlobStore,
  ByteRange,
  OwnedBlob,
} from '../../../ports/blob-store.ts';
import type { ByteBudget } from './byte-budget.ts';

/** The memory limit of a blob store. */
export interface BudgetOfBlobs {
  readonly budget: ByteBudget;
  /** Returns the maximum memory, in bytes, for writing a blob of this length; undefined: of any length. */
  readonly weigh: (length: number | undefined) => number;
}

/** A blob store that starts writes only while there is memory for them. Reads are not limited. */
export class BudgetedBlobs implements BlobStore {
  readonly #blobs: BlobStore;
  readonly #limit: BudgetOfBlobs;

  constructor(blobs: BlobStore, limit: BudgetOfBlobs) {
    this.#blobs = blobs;
    this.#limit = limit;
  }

  /** Writes a blob. @throws S3Error SlowDown before reading any of the bytes */
  async write(
    bytes: AsyncIterable<Uint8Array>,
    owner: BlobOwner,
    length?: number,
  ): Promise<{ ref: BlobRef; size: number }> {
    const giveBack = this.#limit.budget.take(this.#limit.weigh(length));
    if (giveBack === undefined) throw new S3Error('SlowDown', { cause: new Error('no memory for uploads is left') });
    try {
      return await this.#blobs.write(bytes, owner, length);
    } finally {
      giveBack();
    }
  }

  read(ref: BlobRef, size: number, range?: ByteRange): Promise<AsyncIterable<Uint8Array>> {
    return this.#blobs.read(ref, size, range);
  }

  remove(refs: readonly BlobRef[]): Promise<void> {
    return this.#blobs.remove(refs);
  }

  abandon(refs: readonly BlobRef[]): void {
    this.#blobs.abandon(refs);
  }

  list(): AsyncIterable<BlobDescription> {
    return this.#blobs.list();
  }

  describe(ref: BlobRef): Promise<OwnedBlob> {
    return this.#blobs.describe(ref);
  }

  check(): Promise<{ readonly writable: boolean }> {
    return this.#blobs.check();
  }
}
