import type { Latency } from './scheduler.ts';

/** The probabilities of faults, and the latency of calls. */
export interface Faults {
  /** The table is too busy: nothing is read or written. */
  readonly busy: number;
  /** The answer to a write is lost; half of these writes are carried out. */
  readonly lost: number;
  /** A call of the blob store fails. */
  readonly blobs: number;
  /** A connection breaks before the client has the whole answer. */
  readonly connections: number;
  readonly latency: Latency;
}

/** Faults that can be switched off, so that unfinished work can be completed. */
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
