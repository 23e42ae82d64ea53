import { createCRC32, createCRC64, type IHasher } from 'hash-wasm';

/**
 * A hasher is an instance of WebAssembly, and comes asynchronously; a digest begins at once, and many run side by side. So all digests of a kind share
 * one hasher, and each keeps its state aside while another is fed.
 */
class SharedHasher {
  readonly #create: () => Promise<IHasher>;
  #loading: Promise<void> | undefined;
  #loaded: { readonly hasher: IHasher; readonly fresh: Uint8Array } | undefined;
  /** Whose state the hasher holds. */
  #fed: SharedDigest | undefined;

  constructor(create: () => Promise<IHasher>) {
    this.#create = create;
  }

  load(): Promise<void> {
    return (this.#loading ??= this.#create().then((hasher) => {
      this.#loaded = { hasher, fresh: hasher.init().save() };
    }));
  }

  /** To be called once it is loaded. */
  start(): SharedDigest {
    return new SharedDigest(this, this.#engine().fresh);
  }

  /** The hasher with the state of this digest. */
  loaded(digest: SharedDigest): IHasher {
    const { hasher } = this.#engine();
    if (this.#fed !== digest) {
      if (this.#fed) this.#fed.state = hasher.save();
      hasher.load(digest.state);
      this.#fed = digest;
    }
    return hasher;
  }

  end(digest: SharedDigest): Uint8Array {
    const value = this.loaded(digest).digest('binary');
    this.#fed = undefined;
    return value;
  }

  #engine(): { readonly hasher: IHasher; readonly fresh: Uint8Array } {
    if (this.#loaded === undefined) throw new Error('a digest was begun before it was loaded');
    return this.#loaded;
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

// Polynomials have their bits reversed.

/** CRC-32C of RFC 3720 §12.1 (iSCSI), polynomial 0x1EDC6F41. */
export const crc32c = new SharedHasher(() => createCRC32(0x82f63b78));

/** CRC-64/NVME of the NVM Express NVM Command Set Specification, §5.2.1.3.4, polynomial 0xAD93D23594C93659. */
export const crc64Nvme = new SharedHasher(() => createCRC64('9a6c9329ac4bc9b5'));
