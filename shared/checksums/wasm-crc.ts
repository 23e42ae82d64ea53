import { createCRC32, createCRC64, type IHasher } from 'hash-wasm';

/**
 * A hasher is an instance of WebAssembly, and comes asynchronously; a digest begins at once, and many run side by side. So all digests of a kind share
 * one hasher, and each keeps its state aside while another is fed.
 */
class SharedHasher {
  readonly #hasher: IHasher;
  readonly #fresh: Uint8Array;
  /** Whose state the hasher holds. */
  #fed: SharedDigest | undefined;

  constructor(hasher: IHasher) {
    this.#hasher = hasher;
    this.#fresh = hasher.init().save();
  }

  start(): SharedDigest {
    return new SharedDigest(this, this.#fresh);
  }

  /** The hasher with the state of this digest. */
  loaded(digest: SharedDigest): IHasher {
    if (this.#fed !== digest) {
      if (this.#fed) this.#fed.state = this.#hasher.save();
      this.#hasher.load(digest.state);
      this.#fed = digest;
    }
    return this.#hasher;
  }

  end(digest: SharedDigest): Uint8Array {
    const value = this.loaded(digest).digest('binary');
    this.#fed = undefined;
    return value;
  }
}

class SharedDigest {
  readonly #shared: SharedHasher;
  state: Uint8Array;

  constructor(shared: SharedHasher, state: Uint8Array) {
    this.#shared = shared;
    this.state = state;
  }

  update(bytes: Uint8Array): void {
    this.#shared.loaded(this).update(bytes);
  }

  digest(): Uint8Array {
    return this.#shared.end(this);
  }
}

// Polynomials with their bits reversed.
const [castagnoli, nvme] = await Promise.all([createCRC32(0x82f63b78), createCRC64('9a6c9329ac4bc9b5')]);
const [crc32c, crc64nvme] = [new SharedHasher(castagnoli), new SharedHasher(nvme)];

/** CRC-32C of RFC 3720 §12.1 (iSCSI), polynomial 0x1EDC6F41. */
export const startCrc32c = (): SharedDigest => crc32c.start();

/** CRC-64/NVME of the NVM Express NVM Command Set Specification, §5.2.1.3.4, polynomial 0xAD93D23594C93659. */
export const startCrc64Nvme = (): SharedDigest => crc64nvme.start();
