import type { Clock } from '../../shared/ports/clock.ts';
import type { Randomness } from '../../shared/ports/randomness.ts';
import { chained, hashOf, hashOfValue, nothing, type Hash } from './fingerprint.ts';

/** A possible outcome of a step. Taking it settles the promise that the actor awaits. */
export interface Way {
  /** Unique among the outcomes of a step; '' is the ordinary one. */
  readonly name: string;
  /** The fault that this outcome uses up; it is possible only while such a fault remains. */
  readonly costs?: Fault | undefined;
  take(): void;
}

/** Faults that may occur, each a limited number of times, so that the exploration ends. */
export type Fault = 'crash' | 'lost' | 'busy' | 'stall';

/** The items that an access reads and writes. Two accesses with disjoint footprints commute. */
export interface Footprint {
  readonly reads: readonly Spot[];
  readonly writes: readonly Spot[];
}

/** An item, or (without `sk`) a whole partition. */
export interface Spot {
  readonly pk: string;
  readonly sk?: string;
}

/** An operation that an actor awaits: an access to the table, or the end of a sleep. */
export interface Step {
  /** Unique among the steps of its actor. */
  readonly number: number;
  /** Returns the description for the trace of a failure. */
  readonly label: () => string;
  /** The time at which it was requested. */
  readonly since: number;
  /** The time at which a sleep ends; undefined for an access to the table. */
  readonly wakeAt?: number;
  ways(): readonly Way[];
  /** Undefined: it conflicts with every access. */
  footprint(): Footprint | undefined;
}

/**
 * One thread of a scenario: a request, or a follower of the feed. It runs the project's own code until that awaits the table or the clock;
 * then the scheduler may choose it. The code is deterministic, so a hash of the answers that it received identifies its state.
 */
export class Actor {
  readonly name: string;
  readonly run: () => Promise<unknown>;
  /** Whether its result is checked. False for a follower of the feed, which is no client. */
  readonly isClient: boolean;
  readonly waiting: Step[] = [];
  seen: Hash = nothing;
  startedAt = -1;
  endedAt = -1;
  /** The answer of the request. */
  result: unknown;
  /** Whether it was aborted halfway, so that its effect is uncertain. */
  crashed = false;
  #asked = 0;

  constructor(name: string, isClient: boolean, run: () => Promise<unknown>) {
    this.name = name;
    this.isClient = isClient;
    this.run = run;
  }

  get started(): boolean {
    return this.startedAt >= 0;
  }

  get done(): boolean {
    return this.endedAt >= 0;
  }

  /** Records an answer that the code received: the number of the question, and the answer. */
  see(question: number, answer: unknown): void {
    this.seen = chained({ high: this.seen.high, low: (this.seen.low + question) >>> 0 }, hashOfValue(answer));
  }

  /** Returns the number of the next question. */
  ask(): number {
    this.#asked += 1;
    return this.#asked;
  }
}

/** The longest sleep that takes no time and lets no other actor run: the access that follows it does so anyway. */
const briefly = 100;

/** The time of a model. It advances only by sleeps and stalls. */
export interface Time {
  now: number;
}

/** The clock of one actor, off by `skew`. Other actors may run during a sleep. */
export class ActorClock implements Clock {
  readonly #actor: Actor;
  readonly #time: Time;
  readonly #skew: number;
  #last = 0;
  #stretch = 1;

  constructor(actor: Actor, time: Time, skew: number) {
    this.#actor = actor;
    this.#time = time;
    this.#skew = skew;
  }

  now(): number {
    const now = this.#time.now + this.#skew;
    this.#actor.see(0, now);
    return now;
  }

  /**
   * Repeated sleeps of the same length double in duration, and a short first one returns at once. A sleep may always last longer than
   * requested, and hundreds of iterations of a polling loop would multiply the states to explore.
   */
  sleep(milliseconds: number): Promise<void> {
    this.#stretch = milliseconds === this.#last ? this.#stretch * 2 : 1;
    this.#last = milliseconds;
    if (this.#stretch === 1 && milliseconds <= briefly) return Promise.resolve();
    const wakeAt = this.#time.now + Math.max(1, Math.ceil(milliseconds)) * this.#stretch;
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#time.now = Math.max(this.#time.now, wakeAt);
        resolve();
      };
      const step: Step = {
        number: this.#actor.ask(),
        label: () => `${this.#actor.name} wakes`,
        since: this.#time.now,
        wakeAt,
        ways: () => [{ name: '', take: () => settle(this.#actor, step, wake) }],
        footprint: () => undefined,
      };
      this.#actor.waiting.push(step);
    });
  }
}

/** Ends the wait of an actor. */
export function settle(actor: Actor, step: Step, answer: () => void): void {
  actor.waiting.splice(actor.waiting.indexOf(step), 1);
  answer();
}

/** Reproducible bytes from a seed. */
export class SeededRandomness implements Randomness {
  #state: number;

  constructor(seed: string) {
    this.#state = hashOf(seed).low | 1;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.next() >>> 24);
  }

  /** Returns 32 bits (Marsaglia's xorshift). */
  next(): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x >>> 0;
    return Math.imul(this.#state, 2654435761) >>> 0;
  }

  /** Returns an integer below `end`. */
  below(end: number): number {
    return this.next() % end;
  }
}
