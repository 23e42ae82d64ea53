import { randomFillSync } from 'node:crypto';
import type { Randomness } from '../../ports/randomness.ts';

/**
 * The number of bytes drawn at once, since a call to the operating system costs far more than a copy. Each byte is used
 * once.
 */
const stockSize = 8192;

/** Unpredictable bytes from the operating system. */
export class CryptoRandomness implements Randomness {
  readonly #stock = new Uint8Array(stockSize);
  #used = stockSize;

  bytes(count: number): Uint8Array {
    if (count > stockSize / 8) return randomFillSync(new Uint8Array(count));
    if (this.#used + count > stockSize) {
      randomFillSync(this.#stock);
      this.#used = 0;
    }
    const bytes = this.#stock.slice(this.#used, this.#used + count);
    this.#stock.fill(0, this.#used, this.#used + count);
    this.#used += count;
    return bytes;
  }
}
