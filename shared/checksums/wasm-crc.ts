import { createCRC32, createCRC64, type IHasher } from 'hash-wasm';

/**
 * A WebAssembly hasher shared by all digests of one kind. Creating an instance is asynchronous, but digests start
 * synchronously and run side by side, so each saves its state while another is updated.
 */
class SharedHasher {
  readonly #create: () => Promise<IHasher>;
  #loading: Promise<void> | undefined;
  #loaded: { readonly hasher: IHasher; readonly fresh: Uint8Array } | undefined;
  /** The digest whose state the hasher holds. */
  #fed: SharedDigest | undefined;

  constructor(create: () => Promise<IHasher>) {
    this.#create = create;
  }

  load(): Promise<void> {
    return (this.#loading ??= this.#create().then((hasher) => {
      this.#loaded = { hasher, fresh: hasher.init().save() };
    }));
  }

  /** Starts a digest. Requires the hasher to be loaded. */
  start(): SharedDigest {
    return new SharedDigest(this, this.#engine().fresh);
  }

  /** Returns the hasher with the state of this digest. */
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
    if (this.#loaded === undefined) throw new Error('the digest algorithm is not loaded');
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

// Polynomials are given with their bits reversed.

/** The CRC-32C of RFC 3720 §12.1 (iSCSI), polynomial 0x1EDC6F41. */
export const crc32c = new SharedHasher(() => createCRC32(0x82f63b78));

/** The CRC-64/NVME of the NVM Express NVM Command Set Specification, §5.2.1.3.4, polynomial 0xAD93D23594C93659. */
export const crc64Nvme = new SharedHasher(() => createCRC64('9a6c9329ac4bc9b5'));
