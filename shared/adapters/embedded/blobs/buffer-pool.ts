/** Memory of many buffers. */
interface Slab {
  readonly memory: ArrayBufferLike;
  readonly free: Buffer[];
}

/**
 * The minimum size of a slab in bytes. glibc maps allocations of more than 32 MiB separately, and returns them to the system when they
 * are freed (mallopt(3), M_MMAP_THRESHOLD). Smaller ones stay with the process if memory above them is still in use.
 */
const slabSize = 33 * 1024 * 1024;
/** The time after which an empty slab is dropped, in milliseconds. */
const slabKept = 5000;

/**
 * A pool of buffers of one size. Allocating a new one for each upload would burden the garbage collector with memory
 * outside its heap. Keeps a limited number of buffers. When more are in use, as by many slow uploads, they are parts of slabs, which are
 * dropped once they are empty.
 */
export class BufferPool {
  readonly #size: number;
  readonly #maxKept: number;
  readonly #free: Buffer[] = [];
  readonly #slabs: Slab[] = [];
  #allocated = 0;

  /** @param size of each buffer, in bytes */
  constructor(size: number, maxKept: number) {
    this.#size = size;
    this.#maxKept = maxKept;
  }

  /** The number of slabs. */
  get slabs(): number {
    return this.#slabs.length;
  }

  /** Returns a buffer with arbitrary contents. The caller must give it back. */
  take(): Buffer {
    const kept = this.#free.pop();
    if (kept !== undefined) return kept;
    if (this.#allocated < this.#maxKept) {
      this.#allocated += 1;
      return Buffer.allocUnsafeSlow(this.#size);
    }
    // The first one, so that the others become empty.
    const slab = this.#slabs.find(({ free }) => free.length > 0) ?? this.#newSlab();
    return slab.free.pop()!;
  }

  /** Returns a buffer to the pool. Neither the caller nor a system call may still use it. */
  give(buffer: Buffer): void {
    const slab = this.#slabs.find(({ memory }) => memory === buffer.buffer);
    if (slab === undefined) {
      this.#free.push(buffer);
      return;
    }
    slab.free.push(buffer);
    if (this.#isEmpty(slab)) setTimeout(() => this.#drop(slab), slabKept).unref();
  }

  #newSlab(): Slab {
    const memory = Buffer.allocUnsafeSlow(this.#buffersOfSlab * this.#size);
    const free = Array.from({ length: this.#buffersOfSlab }, (_, at) =>
      memory.subarray(at * this.#size, (at + 1) * this.#size),
    ).reverse();
    const slab = { memory: memory.buffer, free };
    this.#slabs.push(slab);
    return slab;
  }

  /** Drops a slab unless it is in use again. */
  #drop(slab: Slab): void {
    const at = this.#slabs.indexOf(slab);
    if (at !== -1 && this.#isEmpty(slab)) this.#slabs.splice(at, 1);
  }

  #isEmpty({ free }: Slab): boolean {
    return free.length === this.#buffersOfSlab;
  }

  get #buffersOfSlab(): number {
    return Math.ceil(slabSize / this.#size);
  }
}
