import type { BlobOwner, BlobRef, BlobStore } from '../ports/blob-store.ts';
import type { Randomness } from '../ports/randomness.ts';
import { decrypt, encrypt, saltBytes, sealedSize, sealedStretch, type Stretch } from './segments.ts';

/** A blob store that encrypts blobs under one key as they are written and decrypts them as they are read. */
export class EncryptedBlobs implements Pick<BlobStore, 'write' | 'remove' | 'abandon'> {
  readonly #blobs: BlobStore;
  readonly #key: Uint8Array;
  readonly #randomness: Randomness;

  /** @param key 32 bytes, from the customer or the service */
  constructor(blobs: BlobStore, key: Uint8Array, randomness: Randomness) {
    this.#blobs = blobs;
    this.#key = key;
    this.#randomness = randomness;
  }

  async write(
    bytes: AsyncIterable<Uint8Array>,
    owner: BlobOwner,
    length?: number,
  ): Promise<{ ref: BlobRef; size: number }> {
    const sealed = encrypt(bytes, this.#key, this.#randomness.bytes(saltBytes));
    return this.#blobs.write(sealed, owner, length === undefined ? undefined : sealedSize(length));
  }

  /**
   * Reads the plaintext, or a range of it. Rejects with BlobMissing or BlobDamaged, or with DamagedCiphertext if the
   * first segment is damaged, so that no response starts before some of the content has been authenticated.
   * @param size of the whole plaintext, in bytes
   */
  async read(ref: BlobRef, size: number, stretch: Stretch): Promise<AsyncIterable<Uint8Array>> {
    const stored = sealedSize(size);
    const salt = await whole(await this.#blobs.read(ref, stored, { first: 0, last: saltBytes - 1 }));
    const sealed = await this.#blobs.read(ref, stored, sealedStretch(size, stretch));
    const plain = decrypt(sealed, this.#key, salt, size, stretch);
    return resumed(await plain.next(), plain);
  }

  remove(refs: readonly BlobRef[]): Promise<void> {
    return this.#blobs.remove(refs);
  }

  abandon(refs: readonly BlobRef[]): void {
    this.#blobs.abandon(refs);
  }
}

async function whole(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Resumes a generator after its first step. Ending it ends the rest, too. */
async function* resumed(
  first: IteratorResult<Uint8Array, unknown>,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (!first.done) yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
