import type { DigestAlgorithm } from '../../../shared/checksums/running-digest.ts';

/** The size of a slot in bytes, and the number of slots: threads read some while the next one is filled. */
export const slotSize = 512 * 1024;
const slots = 3;

/**
 * Memory that threads share for the bytes of one body. One thread fills its slots in turn, and others read them. Each slot counts the
 * readers that have not read it yet.
 */
export class DigestRing {
  readonly memory: SharedArrayBuffer;
  /** The counts of the slots, followed by a 1 while the filling thread waits for a slot. */
  readonly #state: Int32Array;
  readonly #slots: readonly Buffer[];

  /** @param memory the memory of another thread's ring; undefined: creates a ring */
  constructor(memory = new SharedArrayBuffer(slots * slotSize + 4 * (slots + 1))) {
    this.memory = memory;
    this.#slots = Array.from({ length: slots }, (_, slot) => Buffer.from(memory, slot * slotSize, slotSize));
    this.#state = new Int32Array(memory, slots * slotSize, slots + 1);
  }

  /** Returns the bytes of a slot. Slot numbers only increase, and use the slots in turn. */
  slot(number: number): Buffer {
    return this.#slots[number % slots]!;
  }

  /** Returns true if a slot may be filled. Otherwise it tells the readers that somebody waits for the slot. */
  isFree(number: number): boolean {
    if (Atomics.load(this.#state, number % slots) === 0) return true;
    Atomics.store(this.#state, slots, 1);
    // A reader that did not see the wait may have read it meanwhile.
    return Atomics.load(this.#state, number % slots) === 0;
  }

  /** Passes a filled slot to this many readers. */
  pass(number: number, readers: number): void {
    Atomics.store(this.#state, number % slots, readers);
  }

  /** Records that a reader has read a slot. @returns true if the thread that fills slots waits, and must be notified */
  release(number: number): boolean {
    const isLast = Atomics.sub(this.#state, number % slots, 1) === 1;
    return isLast && Atomics.exchange(this.#state, slots, 0) === 1;
  }
}

/** A range of bytes in a slot of the ring. */
export type Piece = readonly [start: number, length: number];

/** A message about a body to a thread that computes digests. */
export type DigestOrder =
  | {
      readonly do: 'start';
      readonly body: number;
      readonly algorithms: readonly DigestAlgorithm[];
      /** The memory of the {@link DigestRing}. */
      readonly memory: SharedArrayBuffer;
    }
  | { readonly do: 'update'; readonly body: number; readonly slot: number; readonly pieces: readonly Piece[] }
  | { readonly do: 'end' | 'abandon'; readonly body: number };

/** The thread's reply: it released a slot that the body waits for, or has the digests of the whole body: none of an abandoned one. */
export interface DigestReply {
  readonly body: number;
  readonly digests?: readonly (readonly [DigestAlgorithm, Uint8Array])[];
}
