import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Secrets } from '../../ports/secrets.ts';

const algorithm = 'aes-256-gcm';
/** The size of a key in bytes. */
export const aesKeySize = 32;
const nonceSize = 12;
const tagSize = 16;
/** The first byte of every sealed secret, for telling future algorithms or keys apart. */
const version = 1;

/**
 * Seals secrets with AES-256-GCM under a key that is stored elsewhere.
 * A sealed secret: version (1 byte), nonce (12, fresh each time), tag (16), ciphertext. The context is authenticated
 * with it.
 */
export class AesSecrets implements Secrets {
  readonly #key: Uint8Array;

  /** @param key {@link aesKeySize} bytes */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  async seal(plaintext: Uint8Array, context: string): Promise<Uint8Array> {
    const nonce = randomBytes(nonceSize);
    const cipher = createCipheriv(algorithm, this.#key, nonce, { authTagLength: tagSize });
    cipher.setAAD(Buffer.from(context));
    const ciphertext = [cipher.update(plaintext), cipher.final()];
    return new Uint8Array(Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), ...ciphertext]));
  }

  async open(sealed: Uint8Array, context: string): Promise<Uint8Array> {
    const start = 1 + nonceSize + tagSize;
    if (sealed.length < start || sealed[0] !== version) throw new Error('this is not a sealed secret');
    const decipher = createDecipheriv(algorithm, this.#key, sealed.subarray(1, 1 + nonceSize), {
      authTagLength: tagSize,
    });
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(sealed.subarray(1 + nonceSize, start));
    try {
      return new Uint8Array(Buffer.concat([decipher.update(sealed.subarray(start)), decipher.final()]));
    } catch (cause) {
      throw new Error('the secret was not sealed with this key and context', { cause });
    }
  }
}
