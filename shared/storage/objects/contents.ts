import type { BlobStore, ByteRange } from '../../ports/blob-store.ts';
import type { Checksum } from '../../checksums/algorithms.ts';
import { recordOf, type EncryptionRecord } from '../../encryption/customer-key.ts';
import { EncryptedBlobs } from '../../encryption/encrypted-blobs.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Manifests, PlacedPart } from './manifests.ts';
import type { Version } from '../versions/versions.ts';

/** A part of an existing object. */
export interface StoredPart {
  readonly number: number;
  readonly firstByte: number;
  readonly size: number;
  readonly checksum: Checksum | undefined;
}

/** The bytes of versions, in one blob or in several. */
export class Contents {
  readonly manifests: Manifests;
  readonly #blobs: BlobStore;
  readonly #randomness: Randomness;
  readonly #managedKey: Uint8Array | undefined;

  /** @param deps.managedKey the key for SSE-S3; undefined if the blob store encrypts by itself */
  constructor(deps: {
    manifests: Manifests;
    blobs: BlobStore;
    randomness: Randomness;
    managedKey: Uint8Array | undefined;
  }) {
    this.manifests = deps.manifests;
    this.#blobs = deps.blobs;
    this.#randomness = deps.randomness;
    this.#managedKey = deps.managedKey;
  }

  /** Returns a new encryption record for a key, and a writer that encrypts with it. */
  encryption(wanted: WantedKey): { readonly record: EncryptionRecord | undefined; readonly blobs: BlobWriter } {
    const record = this.#recordOf(wanted);
    return { record, blobs: this.writer(record, wanted === 'managed' ? undefined : wanted) };
  }

  /** Returns a writer for an existing encryption record, as for another part of the same upload. */
  writer(record: EncryptionRecord | undefined, customerKey: Uint8Array | undefined): BlobWriter {
    return this.#encrypted(record, customerKey) ?? this.#blobs;
  }

  /** Returns a part of a version by its part number, or undefined. An object that was not uploaded in parts is part 1. */
  async part({ content, size, checksum }: Version, number: number): Promise<StoredPart | undefined> {
    if (content?.kind !== 'manifest') return number === 1 ? { number, firstByte: 0, size, checksum } : undefined;
    const part = await this.manifests.part(content.id, number);
    return part && withChecksum(part, checksum);
  }

  /** Returns all parts of a version in order; none if it was not uploaded in parts. */
  async parts({ content, checksum }: Version): Promise<readonly StoredPart[]> {
    if (content?.kind !== 'manifest') return [];
    return (await this.manifests.parts(content.id)).map((part) => withChecksum(part, checksum));
  }

  /**
   * Opens the bytes of a version, or a range of them. Returns undefined if there are none. Rejects with BlobMissing or BlobDamaged; of
   * an object in several parts only the first is checked, and reading throws when it reaches a damaged or missing one.
   * @param customerKey required if the version is encrypted with a customer key
   */
  async read(
    version: Version,
    range?: ByteRange,
    customerKey?: Uint8Array,
  ): Promise<AsyncIterable<Uint8Array> | undefined> {
    const { content, size, encryption } = version;
    if (content === undefined || size === 0) return undefined;
    const open = this.#opener(encryption, customerKey);
    const wanted = range ?? { first: 0, last: size - 1 };
    if (content.kind === 'blob') return open({ ref: content.ref, size, range: wanted });
    const parts = await this.manifests.parts(content.id, wanted);
    if (!covers(parts, wanted)) throw new Error(`manifest ${content.id} does not hold all of its ${size} bytes`);
    const stretches = parts
      .filter((part) => part.size > 0)
      .map((part) => ({
        ref: part.blob,
        size: part.size,
        range: {
          first: Math.max(0, wanted.first - part.firstByte),
          last: Math.min(part.size, wanted.last + 1 - part.firstByte) - 1,
        },
      }));
    const [first, ...rest] = stretches;
    return first && concatenated(open, await open(first), rest);
  }

  #recordOf(wanted: WantedKey): EncryptionRecord | undefined {
    if (wanted === undefined) return undefined;
    return wanted === 'managed' ? { kind: 'managed' } : recordOf(wanted, this.#randomness);
  }

  #encrypted(record: EncryptionRecord | undefined, customerKey: Uint8Array | undefined): EncryptedBlobs | undefined {
    if (record === undefined) return undefined;
    const key = record.kind === 'managed' ? this.#managedKey : customerKey;
    if (key !== undefined) return new EncryptedBlobs(this.#blobs, key, this.#randomness);
    if (record.kind === 'managed') return undefined;
    throw new Error('a customer key is needed');
  }

  #opener(record: EncryptionRecord | undefined, customerKey: Uint8Array | undefined): Opener {
    const encrypted = this.#encrypted(record, customerKey);
    if (encrypted) return ({ ref, size, range }) => encrypted.read(ref, size, range);
    return ({ ref, size, range }) =>
      this.#blobs.read(ref, size, range.first === 0 && range.last === size - 1 ? undefined : range);
  }
}

/** The key to encrypt with: a customer key, the service's managed key, or none. */
export type WantedKey = Uint8Array | 'managed' | undefined;

/** The part of a blob store that uploads need. */
export type BlobWriter = Pick<BlobStore, 'write' | 'remove' | 'abandon'>;

/** A range of a blob's content. `size` is that of the whole content, in bytes. */
interface BlobStretch {
  readonly ref: string;
  readonly size: number;
  readonly range: ByteRange;
}

type Opener = (stretch: BlobStretch) => Promise<AsyncIterable<Uint8Array>>;

/** Tells whether parts cover a range without a gap. */
function covers(parts: readonly PlacedPart[], { first, last }: ByteRange): boolean {
  let reached = first;
  for (const { firstByte, size } of parts) {
    if (firstByte > reached) return false;
    reached = Math.max(reached, firstByte + size);
  }
  return reached > last;
}

/** Returns a part with its checksum, whose algorithm is that of the whole object. */
function withChecksum({ number, firstByte, size, checksum }: PlacedPart, ofWhole: Checksum | undefined): StoredPart {
  const own = checksum && ofWhole && { algorithm: ofWhole.algorithm, value: checksum, type: 'FULL_OBJECT' as const };
  return { number, firstByte, size, checksum: own };
}

/** Concatenates blobs. The next one is opened while the current one is read. */
async function* concatenated(
  open: Opener,
  first: AsyncIterable<Uint8Array>,
  rest: readonly BlobStretch[],
): AsyncGenerator<Uint8Array> {
  const openNext = (at: number): Promise<AsyncIterable<Uint8Array>> | undefined => {
    const stretch = rest[at];
    const opened = stretch && open(stretch);
    opened?.catch(() => undefined); // the error is thrown where the blob is awaited
    return opened;
  };
  let present: AsyncIterable<Uint8Array> | undefined = first;
  let next: Promise<AsyncIterable<Uint8Array>> | undefined;
  try {
    for (let at = 0; present !== undefined; at += 1) {
      next = openNext(at);
      yield* present;
      present = await next;
      next = undefined;
    }
  } finally {
    // If the reader stops early, the next blob must be closed, too.
    const unread = await next?.catch(() => undefined);
    await unread?.[Symbol.asyncIterator]().return?.();
  }
}
