import { BlobChecksumsMissing, BlobMissing } from '../../shared/ports/blob-store.ts';
import type { BlobDescription, BlobOwner, BlobRef, BlobStore } from '../../shared/ports/blob-store.ts';
import { added, hashOf, nothing, type Hash } from './fingerprint.ts';

/** A blob of a model. Only its existence matters, not its bytes. */
interface Blob {
  readonly bytes: Uint8Array;
  readonly owner: BlobOwner;
  readonly writtenAt: number;
}

/**
 * The blobs of a model. Other actors do not run at writes and removals: a blob is unknown before the commit that refers to it, and is not
 * read once it is due for removal.
 */
export class MemoryBlobs {
  readonly kept: Map<BlobRef, Blob>;
  /** Blobs that cannot be read, as their checksums are lost. */
  readonly unreadable = new Set<BlobRef>();
  /** Called before a blob is removed. */
  watch: (ref: BlobRef) => void = () => undefined;

  constructor(from?: MemoryBlobs) {
    this.kept = new Map(from?.kept);
  }

  /** Returns the store for one actor, which names blobs after their writer. */
  of(writer: string, now: () => number): BlobStore {
    let count = 0;
    return {
      write: async (bytes, owner) => {
        const chunks: Uint8Array[] = [];
        for await (const chunk of bytes) chunks.push(chunk);
        const whole = Buffer.concat(chunks);
        count += 1;
        const ref = `bytes-of-${writer}-${count}`.padEnd(24, '_');
        this.kept.set(ref, { bytes: whole, owner, writtenAt: now() });
        return { ref, size: whole.length };
      },
      read: async (ref) => {
        const blob = this.kept.get(ref);
        if (!blob) throw new BlobMissing(ref);
        if (this.unreadable.has(ref)) throw new BlobChecksumsMissing(ref);
        return once(blob.bytes);
      },
      remove: async (refs) => {
        for (const ref of refs) {
          this.watch(ref);
          this.kept.delete(ref);
        }
      },
      abandon: () => undefined,
      describe: async (ref) => {
        const blob = this.kept.get(ref);
        if (!blob) throw new BlobMissing(ref);
        return { ref, size: blob.bytes.length, writtenAt: blob.writtenAt, owner: blob.owner };
      },
      list: () => this.#list(),
      check: async () => ({ writable: true }),
    };
  }

  get hash(): Hash {
    return [...this.kept.keys()].reduce((bag, ref) => added(bag, hashOf(ref)), nothing);
  }

  async *#list(): AsyncGenerator<BlobDescription> {
    for (const [ref, { bytes, writtenAt }] of this.kept) yield { ref, size: bytes.length, writtenAt };
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
