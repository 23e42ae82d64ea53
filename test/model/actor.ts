import type { Clock } from '../../shared/ports/clock.ts';
import type { Randomness } from '../../shared/ports/randomness.ts';
import { chained, hashOf, hashOfValue, nothing, type Hash } from './fingerprint.ts';

/** One of the ways a step can go. Whoever takes it settles the promise that the actor waits for. */
export interface Way {
  /** What tells this way from the others; '' is the ordinary one. */
  readonly name: string;
  /** What the world must still have in store for it to go this way. */
  readonly costs?: Fault | undefined;
  take(): void;
}

/** What can go wrong. Each is in store a limited number of times, so that there is an end to it. */
export type Fault = 'crash' | 'lost' | 'busy' | 'stall';

/** What an access looks at or changes. Two that have nothing in common may as well happen in the other order. */
export interface Footprint {
  readonly reads: readonly Spot[];
  readonly writes: readonly Spot[];
}

/** An item, or (without `sk`) a whole partition. */
export interface Spot {
  readonly pk: string;
  readonly sk?: string;
}

/** Something an actor waits for: an access to the table, or the end of a sleep. */
export interface Step {
  /** Tells it from all others of its actor. */
  readonly number: number;
  /** For the trace of a failure. */
  readonly label: () => string;
  /** When it was asked for. */
  readonly since: number;
  /** The moment a sleep is over; undefined for an access to the table. */
  readonly wakeAt?: number;
  ways(): readonly Way[];
  /** Undefined: it has something in common with everything. */
  footprint(): Footprint | undefined;
}

/**
 * One thread of a scenario: a request, a follower of the feed. Its code is the project's own and runs until it awaits the table or
 * the clock; then it is one of those that the scheduler chooses from. What it has seen is hashed, since that, its code being
 * deterministic, is the state it is in.
 */
export class Actor {
  readonly name: string;
  readonly run: () => Promise<unknown>;
  /** Whether what it did is judged; a follower of the feed is none of the clients. */
  readonly isClient: boolean;
  readonly waiting: Step[] = [];
  seen: Hash = nothing;
  startedAt = -1;
  endedAt = -1;
  /** What the request answered. */
  result: unknown;
  /** It was cut off in the middle: whether it happened is open. */
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

  /** Notes what the code was told: which of its questions was answered, and how. */
  see(question: number, answer: unknown): void {
    this.seen = chained({ high: this.seen.high, low: (this.seen.low + question) >>> 0 }, hashOfValue(answer));
  }

  /** Numbers the next question. */
  ask(): number {
    this.#asked += 1;
    return this.#asked;
  }
}

/** Sleeps up to this length take no time, and are no point where others run: the access behind them is one anyway. */
const briefly = 100;

/** The time of a model: it stands still but for sleeps and stalls. */
export interface Time {
  now: number;
}

/** A clock as one actor sees it. It may go wrong by `skew`, and a sleep is a point where others may run. */
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
   * Whoever polls sleeps longer each time, and at first hardly at all. A sleep may always last longer than was asked for, and hundreds of turns of a loop that
   * waits would drown the states worth looking at.
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

/** Bytes that follow from a seed, so that a run can be played again. */
export class SeededRandomness implements Randomness {
  #state: number;

  constructor(seed: string) {
    this.#state = hashOf(seed).low | 1;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.next() >>> 24);
  }

  /** 32 bits (Marsaglia's xorshift). */
  next(): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x >>> 0;
    return Math.imul(this.#state, 2654435761) >>> 0;
  }

  /** A whole number below `end`. */
  below(end: number): number {
    return this.next() % end;
  }
}
