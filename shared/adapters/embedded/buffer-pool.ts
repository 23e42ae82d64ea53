/**
 * Buffers of one size that are used again: a new one for each upload would keep the collector busy with memory outside of its heap. Keeps so
 * many at most, and makes new ones when it has none.
 */
export class BufferPool {
  readonly #size: number;
  readonly #maxKept: number;
  readonly #free: Buffer[] = [];

  /** @param size of each buffer, in bytes */
  constructor(size: number, maxKept: number) {
    this.#size = size;
    this.#maxKept = maxKept;
  }

  /** Returns a buffer that holds anything. Whoever takes it gives it back, or leaves it to the collector. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#size);
  }

  /** Takes a buffer back that nobody reads or writes any more, nor a system call. */
  give(buffer: Buffer): void {
    if (this.#free.length < this.#maxKept) this.#free.push(buffer);
  }
}
