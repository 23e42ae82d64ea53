import { createCipheriv, type Cipher } from 'node:crypto';
import { Readable } from 'node:stream';

const key = Buffer.from('stillage-testing');
const blockSize = 16;
const zeros = Buffer.alloc(256 * 1024);

/** Bytes without end that look random and are the same every time, from any place on: AES in counter mode. */
class Keystream {
  readonly #cipher: Cipher;

  /** @param start a multiple of 16 */
  constructor(start = 0) {
    const counter = Buffer.alloc(blockSize);
    counter.writeBigUInt64BE(BigInt(start / blockSize), 8);
    this.#cipher = createCipheriv('aes-128-ctr', key, counter);
  }

  next(size: number): Buffer {
    return this.#cipher.update(size <= zeros.length ? zeros.subarray(0, size) : Buffer.alloc(size));
  }
}

/** A stretch of it, to be sent. */
export function keystream(start: number, size: number): Readable {
  const source = new Keystream(start);
  let left = size;
  return new Readable({
    highWaterMark: zeros.length,
    read(): void {
      const count = Math.min(left, zeros.length);
      left -= count;
      this.push(count === 0 ? null : source.next(count));
    },
  });
}

/**
 * Compares received bytes with the keystream.
 * @returns the number of bytes
 * @throws Error at the first difference
 */
export async function expectKeystream(received: AsyncIterable<Uint8Array>, start = 0): Promise<number> {
  const source = new Keystream(start);
  let size = 0;
  for await (const chunk of received) {
    if (!source.next(chunk.length).equals(chunk))
      throw new Error(`wrong bytes among ${size} to ${size + chunk.length}`);
    size += chunk.length;
  }
  return size;
}
