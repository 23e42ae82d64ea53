/** The size of a slot, and their number: the threads are busy with some while the next is being filled. */
export const slotSize = 512 * 1024;
const slots = 3;

/**
 * Memory that threads share for the bytes of one body: slots, which one thread fills in turn and others read. Each slot has a count of
 * those that have not read it yet.
 */
export class DigestRing {
  readonly memory: SharedArrayBuffer;
  /** The counts of the slots; then 1 while the thread that fills them waits for one. */
  readonly #state: Int32Array;
  readonly #slots: readonly Buffer[];

  /** @param memory of the ring of another thread; undefined: creates it */
  constructor(memory = new SharedArrayBuffer(slots * slotSize + 4 * (slots + 1))) {
    this.memory = memory;
    this.#slots = Array.from({ length: slots }, (_, slot) => Buffer.from(memory, slot * slotSize, slotSize));
    this.#state = new Int32Array(memory, slots * slotSize, slots + 1);
  }

  /** Returns the bytes of a slot. Slots are numbered without end, and used in turn. */
  slot(number: number): Buffer {
    return this.#slots[number % slots]!;
  }

  /** Returns true if a slot may be filled. Otherwise it tells the readers that somebody waits for the slot. */
  isFree(number: number): boolean {
    if (Atomics.load(this.#state, number % slots) === 0) return true;
    Atomics.store(this.#state, slots, 1);
    // It may have been read meanwhile, by a reader that knew of no wait.
    return Atomics.load(this.#state, number % slots) === 0;
  }

  /** Passes a filled slot to this many readers. */
  pass(number: number, readers: number): void {
    Atomics.store(this.#state, number % slots, readers);
  }

  /** Tells that a reader has read a slot. @returns whether the thread that fills them waits, and is to be told */
  release(number: number): boolean {
    const isLast = Atomics.sub(this.#state, number % slots, 1) === 1;
    return isLast && Atomics.exchange(this.#state, slots, 0) === 1;
  }
}
