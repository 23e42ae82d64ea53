import type { BlobStore, ByteRange } from '../ports/blob-store.ts';
import type { Checksum } from '../checksums/algorithms.ts';
import type { Manifests, PlacedPart } from './manifests.ts';
import type { Version } from './versions.ts';

/** A part of an object that is there. */
export interface StoredPart {
  readonly number: number;
  readonly firstByte: number;
  readonly size: number;
  readonly checksum: Checksum | undefined;
}

/** The bytes of versions, whether they lie in one blob or in many. */
export class Contents {
  readonly manifests: Manifests;
  readonly #blobs: BlobStore;

  constructor(rooms: { manifests: Manifests; blobs: BlobStore }) {
    this.manifests = rooms.manifests;
    this.#blobs = rooms.blobs;
  }

  /** A part of a version by its number from 1, or undefined. What was uploaded at once is one part. */
  async part({ content, size, checksum }: Version, number: number): Promise<StoredPart | undefined> {
    if (content?.kind !== 'manifest') return number === 1 ? { number, firstByte: 0, size, checksum } : undefined;
    const part = await this.manifests.part(content.id, number);
    return part && withChecksum(part, checksum);
  }

  /** All parts of a version that was uploaded in parts, in order. */
  async parts({ content, checksum }: Version): Promise<readonly StoredPart[]> {
    if (content?.kind !== 'manifest') return [];
    return (await this.manifests.parts(content.id)).map((part) => withChecksum(part, checksum));
  }

  /** Opens the bytes of a version, or a stretch of them; undefined if there are none. Rejects with BlobMissing. */
  async read({ content, size }: Version, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined> {
    if (content === undefined || size === 0) return undefined;
    if (content.kind === 'blob') return this.#blobs.read(content.ref, range);
    const wanted = range ?? { first: 0, last: size - 1 };
    const parts = await this.manifests.parts(content.id, wanted);
    const stretches = parts
      .filter((part) => part.size > 0)
      .map((part) => ({
        ref: part.blob,
        range: {
          first: Math.max(0, wanted.first - part.firstByte),
          last: Math.min(part.size, wanted.last + 1 - part.firstByte) - 1,
        },
      }));
    return concatenated(this.#blobs, stretches);
  }
}

/** Parts have checksums of the same algorithm as the whole. */
function withChecksum({ number, firstByte, size, checksum }: PlacedPart, ofWhole: Checksum | undefined): StoredPart {
  const own = checksum && ofWhole && { algorithm: ofWhole.algorithm, value: checksum, type: 'FULL_OBJECT' as const };
  return { number, firstByte, size, checksum: own };
}

/** One blob after another. The next one is opened while the present one is read. */
async function* concatenated(
  blobs: BlobStore,
  stretches: readonly { readonly ref: string; readonly range: ByteRange }[],
): AsyncGenerator<Uint8Array> {
  const open = (at: number): Promise<AsyncIterable<Uint8Array>> | undefined => {
    const stretch = stretches[at];
    const opened = stretch && blobs.read(stretch.ref, stretch.range);
    opened?.catch(() => undefined); // told when it is awaited
    return opened;
  };
  let next = open(0);
  try {
    for (let at = 0; next !== undefined; at += 1) {
      const present: AsyncIterable<Uint8Array> = await next;
      next = open(at + 1);
      yield* present;
    }
  } finally {
    // Whoever stops early must not leave the blob open that was to come next.
    const unread = await next?.catch(() => undefined);
    await unread?.[Symbol.asyncIterator]().return?.();
  }
}
