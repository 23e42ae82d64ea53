import { hash } from 'node:crypto';
import type { Randomness } from '../../ports/randomness.ts';

const hashes = 7;
const defaultBytes = 128 * 1024 * 1024;

/**
 * A set of names in a fixed amount of memory (a Bloom filter). Names that were added are always found, and a few
 * others as well (1 in 100 once 110 million names were added to 128 MiB). So a name that is not found was never added, and
 * may be an orphan's. An orphan that is found by mistake is reported by a later scrub, which uses another salt.
 */
export class ReferenceFilter {
  readonly #bits: Uint8Array;
  readonly #salt: string;

  /** @param bytes a power of two */
  constructor(randomness: Randomness, bytes = defaultBytes) {
    this.#bits = new Uint8Array(bytes);
    this.#salt = Buffer.from(randomness.bytes(12)).toString('base64');
  }

  add(name: string): void {
    for (const position of this.#positions(name)) this.#bits[position >>> 3]! |= 1 << (position & 7);
  }

  has(name: string): boolean {
    return this.#positions(name).every((position) => (this.#bits[position >>> 3]! >>> (position & 7)) & 1);
  }

  /** Derives all positions from two hashes. The second is odd, so that it reaches every position. */
  #positions(name: string): number[] {
    const digest = hash('sha1', this.#salt + name, 'buffer');
    const [first, second] = [digest.readUInt32LE(0), digest.readUInt32LE(4) | 1];
    const mask = this.#bits.length * 8 - 1;
    return Array.from({ length: hashes }, (_, nth) => ((first + Math.imul(nth, second)) & mask) >>> 0);
  }
}
