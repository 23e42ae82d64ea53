import { BlobSizeDiffers, BlobMissing } from '../../ports/blob-store.ts';
import type { BlobDescription, BlobOwner, BlobRef, BlobStore, ByteRange, OwnedBlob } from '../../ports/blob-store.ts';
import { WholeBytes } from '../../ports/whole-bytes.ts';
import { blobRef, timeOf } from '../embedded/blobs/blob-ref.ts';
import { CryptoRandomness } from '../system/crypto-randomness.ts';
import { UnlinkedFile } from './unlinked-file.ts';

/** The maximum size of a blob kept in memory, in bytes. */
const maxBytesInMemory = 1024 * 1024;

interface StoredBlob {
  readonly content: Buffer | UnlinkedFile;
  readonly owner: BlobOwner;
}

/**
 * The blobs of an ephemeral service: small ones in memory, each other one in an unlinked file in the directory for
 * temporary files. All of them vanish with the process.
 */
export class EphemeralBlobStore implements BlobStore {
  readonly #blobs = new Map<BlobRef, StoredBlob>();
  readonly #randomness = new CryptoRandomness();
  #bytes = 0;
  #isClosed = false;

  /** The total size of all blobs in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  async write(bytes: AsyncIterable<Uint8Array>, owner: BlobOwner): Promise<{ ref: BlobRef; size: number }> {
    const ref = blobRef(Date.now(), this.#randomness);
    const content = await gather(bytes);
    const size = sizeOf(content);
    // The request outlived a reset, so nothing will read its blob.
    if (this.#isClosed) discard(content);
    else {
      this.#blobs.set(ref, { content, owner });
      this.#bytes += size;
    }
    return { ref, size };
  }

  async read(ref: BlobRef, size: number, range?: ByteRange): Promise<AsyncIterable<Uint8Array>> {
    const { content } = this.#find(ref);
    if (sizeOf(content) !== size) throw new BlobSizeDiffers(ref, size, sizeOf(content));
    const start = range?.first ?? 0;
    const end = range === undefined ? size : range.last + 1;
    return content instanceof UnlinkedFile ? content.read(start, end) : new WholeBytes(content.subarray(start, end));
  }

  async remove(refs: readonly BlobRef[]): Promise<void> {
    for (const ref of refs) {
      const blob = this.#blobs.get(ref);
      if (blob === undefined) continue;
      this.#blobs.delete(ref);
      this.#bytes -= sizeOf(blob.content);
      discard(blob.content);
    }
  }

  abandon(): void {
    // Nothing is held back for a later write to the table.
  }

  async *list(): AsyncIterable<BlobDescription> {
    for (const [ref, { content }] of this.#blobs) yield { ref, size: sizeOf(content), writtenAt: timeOf(ref) };
  }

  async describe(ref: BlobRef): Promise<OwnedBlob> {
    const { content, owner } = this.#find(ref);
    return { ref, size: sizeOf(content), writtenAt: timeOf(ref), owner };
  }

  async check(): Promise<{ readonly writable: boolean }> {
    return { writable: true };
  }

  /** Removes all blobs. Reads in progress can continue to the end. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.remove([...this.#blobs.keys()]);
  }

  #find(ref: BlobRef): StoredBlob {
    const blob = this.#blobs.get(ref);
    if (blob === undefined) throw new BlobMissing(ref);
    return blob;
  }
}

/** Collects a body in memory while it is small, and then in a file. Leaves nothing if the body fails. */
async function gather(bytes: AsyncIterable<Uint8Array>): Promise<Buffer | UnlinkedFile> {
  let pending: Uint8Array[] = [];
  let size = 0;
  let file: UnlinkedFile | undefined;
  try {
    for await (const chunk of bytes) {
      pending.push(chunk);
      size += chunk.length;
      if (size <= maxBytesInMemory) continue;
      file ??= UnlinkedFile.create();
      await file.append(Buffer.concat(pending));
      [pending, size] = [[], 0];
    }
    const rest = Buffer.concat(pending);
    if (file === undefined) return rest;
    await file.append(rest);
    return file;
  } catch (error) {
    file?.release();
    throw error;
  }
}

function sizeOf(content: Buffer | UnlinkedFile): number {
  return content instanceof UnlinkedFile ? content.size : content.length;
}

function discard(content: Buffer | UnlinkedFile): void {
  if (content instanceof UnlinkedFile) content.release();
}
