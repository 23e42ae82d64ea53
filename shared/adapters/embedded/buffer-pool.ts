/**
 * A pool of buffers of one size. Allocating a new one for each upload would burden the garbage collector with memory
 * outside its heap. Keeps a limited number of buffers and allocates more when empty.
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

  /** Returns a buffer with arbitrary contents. The caller gives it back or leaves it to the garbage collector. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#size);
  }

  /** Returns a buffer to the pool. Neither the caller nor a system call may still use it. */
  give(buffer: Buffer): void {
    if (this.#free.length < this.#maxKept) this.#free.push(buffer);
  }
}
