import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

/*
 * The format of every file of a repository but the one with its key, and of locks:
 *
 *   magic (8 bytes) ‖ version (1) ‖ kind (1) ‖ salt (32) ‖ section ‖ … ‖ section ‖ end section ‖ size of the end section (4, little-endian)
 *
 * A section is AES-256-GCM ciphertext and its tag (16 bytes). The key of a file is derived from the repository's, the salt and the kind
 * (HKDF-SHA256), so the nonce can be the number of the section, and its first byte 1 for the end section. The end section tells what the
 * others are: none can be moved, left out or taken from another file.
 */

const algorithm = 'aes-256-gcm';
const magic = Buffer.from('STILBKUP');
const version = 1;
const saltBytes = 32;
const tagBytes = 16;
const headerBytes = magic.length + 2 + saltBytes;
const sizeBytes = 4;
/** So much is encrypted at a time: a cipher returns new memory, and this much is still in the processor's cache when it is copied to the file. */
const strideBytes = 128 * 1024;

/** The kinds of sealed files, by the byte that states it. */
const kinds = { pack: 1, index: 2, backup: 3 } as const;
export type FileKind = keyof typeof kinds;

/** A file of a repository is not what was written. */
export class DamagedFile extends Error {
  constructor(message = 'its bytes are not those that were written', options?: ErrorOptions) {
    super(message, options);
    this.name = 'DamagedFile';
  }
}

/** Writes a sealed file, section by section. */
export class SealedFileWriter {
  readonly #key: Uint8Array;
  #file: Buffer;
  #size = headerBytes;
  #sections = 0;

  /**
   * @param salt fresh and random, 32 bytes
   * @param memory used for the file as far as it is large enough, and until the caller is done with the file
   */
  constructor(key: Uint8Array, kind: FileKind, salt: Uint8Array, memory: Buffer = Buffer.alloc(0)) {
    this.#key = fileKey(key, kind, salt);
    this.#file = memory;
    this.#reserve(0);
    magic.copy(this.#file);
    this.#file[magic.length] = version;
    this.#file[magic.length + 1] = kinds[kind];
    this.#file.set(salt, magic.length + 2);
  }

  /** The bytes so far. */
  get size(): number {
    return this.#size;
  }

  append(plain: Uint8Array): void {
    this.#seal(plain, nonceOf(this.#sections));
    this.#sections += 1;
  }

  /** Returns the file. @param end tells what the sections are */
  finish(end: Uint8Array): Buffer {
    this.#reserve(end.length + tagBytes + sizeBytes);
    this.#seal(end, endNonce);
    this.#size = this.#file.writeUInt32LE(end.length + tagBytes, this.#size);
    return this.#file.subarray(0, this.#size);
  }

  #seal(plain: Uint8Array, nonce: Buffer): void {
    this.#reserve(plain.length + tagBytes);
    const cipher = createCipheriv(algorithm, this.#key, nonce, { authTagLength: tagBytes });
    for (let at = 0; at < plain.length; at += strideBytes) {
      this.#put(cipher.update(plain.subarray(at, at + strideBytes)));
    }
    this.#put(cipher.final());
    this.#put(cipher.getAuthTag());
  }

  #put(bytes: Buffer): void {
    this.#file.set(bytes, this.#size);
    this.#size += bytes.length;
  }

  /** Sees to it that so many bytes can be added. */
  #reserve(bytes: number): void {
    if (this.#size + bytes <= this.#file.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#size + bytes, 2 * this.#file.length));
    this.#file.copy(larger);
    this.#file = larger;
  }
}

/** A sealed file that was read. */
export class SealedFile {
  /** The plaintext of the end section. */
  readonly end: Buffer;
  readonly #key: Uint8Array;
  readonly #bytes: Buffer;
  #at = headerBytes;
  #sections = 0;

  /** @throws DamagedFile */
  constructor(key: Uint8Array, kind: FileKind, bytes: Uint8Array) {
    const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (file.length < headerBytes + tagBytes + sizeBytes || !file.subarray(0, magic.length).equals(magic)) {
      throw new DamagedFile();
    }
    if (file[magic.length] !== version) {
      throw new DamagedFile(`it has version ${file[magic.length]}, and this version of Stillage knows ${version}`);
    }
    if (file[magic.length + 1] !== kinds[kind]) throw new DamagedFile();
    this.#bytes = file;
    this.#key = fileKey(key, kind, file.subarray(magic.length + 2, headerBytes));
    const endSize = file.readUInt32LE(file.length - sizeBytes);
    const endStart = file.length - sizeBytes - endSize;
    if (endStart < headerBytes) throw new DamagedFile();
    this.end = open(this.#key, file.subarray(endStart, endStart + endSize), endNonce);
  }

  /** Returns the next section. @param size of its plaintext. @throws DamagedFile */
  next(size: number): Buffer {
    const end = this.#at + size + tagBytes;
    if (end > this.#bytes.length) throw new DamagedFile();
    const plain = open(this.#key, this.#bytes.subarray(this.#at, end), nonceOf(this.#sections));
    this.skip(size);
    return plain;
  }

  /** Passes the next section. @param size of its plaintext */
  skip(size: number): void {
    this.#at += size + tagBytes;
    this.#sections += 1;
  }
}

function open(key: Uint8Array, section: Buffer, nonce: Buffer): Buffer {
  if (section.length < tagBytes) throw new DamagedFile();
  const end = section.length - tagBytes;
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  decipher.setAuthTag(section.subarray(end));
  try {
    return Buffer.concat([decipher.update(section.subarray(0, end)), decipher.final()]);
  } catch (cause) {
    throw new DamagedFile(undefined, { cause });
  }
}

/** The nonce of the end section, which no other section has. */
const endNonce = Buffer.from([1, ...Buffer.alloc(11)]);

/** Returns 12 bytes: the number of the section in the last 4. */
function nonceOf(section: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(section, 8);
  return nonce;
}

function fileKey(key: Uint8Array, kind: FileKind, salt: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, salt, `stillage backup ${kind}`, 32));
}
