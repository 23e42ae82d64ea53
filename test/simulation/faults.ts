import type { Latency } from './scheduler.ts';

/** How often what goes wrong, as probabilities, and how long calls take. */
export interface Faults {
  /** The table is too busy: nothing is read or written. */
  readonly busy: number;
  /** Of writes whose answer is lost; half of them were carried out. */
  readonly lost: number;
  /** Of calls of the blob store that fail. */
  readonly blobs: number;
  /** Of connections that break before the client has the whole answer. */
  readonly connections: number;
  readonly latency: Latency;
}

/** Adversity that can be switched off, so that what is left undone can be finished. */
export class Adversity {
  readonly #faults: Faults;
  isOn = true;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  get now(): Faults {
    return this.isOn ? this.#faults : { ...this.#faults, busy: 0, lost: 0, blobs: 0, connections: 0 };
  }
}
