import type { Clock } from '../../../shared/ports/clock.ts';
import { second } from '../../../shared/ports/durations.ts';

/** Limits how many bytes pass in a second, of all streams together. */
export class ByteRate {
  readonly #perSecond: number;
  readonly #clock: Clock;
  /** When all that has passed would have passed at the rate, in milliseconds since the epoch. */
  #due = 0;

  /** @param perSecond Infinity: not limited */
  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  /** Waits until these bytes may pass. */
  async pass(bytes: number): Promise<void> {
    const now = this.#clock.now();
    this.#due = Math.max(this.#due, now) + (bytes * second) / this.#perSecond;
    if (this.#due > now) await this.#clock.sleep(this.#due - now);
  }

  /** The same bytes, no faster than they may pass. */
  async *limited(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      await this.pass(chunk.byteLength);
      yield chunk;
    }
  }
}
