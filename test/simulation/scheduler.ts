import type { Clock } from '../../shared/ports/clock.ts';
import { Random } from '../linearizability/random.ts';
import { EventQueue } from './event-queue.ts';

/** A process of the service. After its end, its calls get no answer. */
export class SimulatedProcess {
  readonly name: string;
  /** True if its calls may take effect after its end, as calls over a network do. */
  readonly isOutlived: boolean;
  #isAlive = true;
  readonly #atEnd = new Set<() => void>();

  constructor(name: string, isOutlived: boolean) {
    this.name = name;
    this.isOutlived = isOutlived;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Calls back when the process ends. @returns a function that ends the subscription */
  atEnd(listener: () => void): () => void {
    this.#atEnd.add(listener);
    return () => this.#atEnd.delete(listener);
  }

  /** Ends the process, as `kill -9` does. */
  kill(): void {
    this.#isAlive = false;
    for (const listener of this.#atEnd) listener();
    this.#atEnd.clear();
  }
}

/** The latency of calls in milliseconds: from the call to its effect, and from there to the answer. */
export interface Latency {
  readonly usual: number;
  readonly slow: number;
  readonly longest: number;
}

/**
 * Chooses the next event of a simulation. Everything that the service awaits (an access to the table or the blobs, the network, a sleep) is
 * an event at a virtual time with a random delay; the earliest event is next, and the time jumps to it. Between two events, all code runs
 * until it waits again. So a seed determines everything.
 */
export class Scheduler {
  readonly random: Random;
  readonly #queue = new EventQueue();
  readonly #trace: string[] = [];
  /** The number of labels that the trace keeps. */
  readonly #traced: number;
  #now: number;
  #hash = 0x811c9dc5;
  #events = 0;
  /** The number of calls in progress. */
  #calls = 0;
  #failure: Error | undefined;

  constructor(seed: number, { now, traced = 400 }: { readonly now: number; readonly traced?: number }) {
    this.random = new Random(seed);
    this.#now = now;
    this.#traced = traced;
  }

  /** Milliseconds since the epoch. */
  get now(): number {
    return Math.floor(this.#now);
  }

  /** The number of events until now. */
  get events(): number {
    return this.#events;
  }

  /** Stands for everything that has happened until now, in order. */
  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0');
  }

  /** The last events, oldest first. */
  get trace(): readonly string[] {
    return this.#trace;
  }

  /** Ends the simulation: a promise was broken. */
  fail(error: Error): void {
    this.#failure ??= error;
  }

  /** Adds to the trace and its hash. @param detail in the trace alone */
  note(label: string, detail = ''): void {
    for (let at = 0; at < label.length; at += 1) {
      this.#hash = Math.imul(this.#hash ^ label.charCodeAt(at), 0x01000193);
    }
    this.#trace.push(`${this.#now.toFixed(3)} ${label}${detail}`);
    if (this.#trace.length > 2 * this.#traced) this.#trace.splice(0, this.#traced);
  }

  /** Does something after a delay in milliseconds. @param resumes whether code continues that has to run before the next event */
  after(delay: number, label: string, act: () => void, resumes = true): void {
    this.#queue.add({ at: this.#now + delay, label, act, resumes });
  }

  /** Returns a random delay. */
  delay({ usual, slow, longest }: Latency): number {
    const kind = this.random.next();
    const most = kind < 0.8 ? usual : kind < 0.97 ? slow : longest;
    return this.random.next() * most;
  }

  /**
   * Does something on behalf of a process: it takes effect after a delay, and the process hears of it after another, unless it has ended by
   * then.
   */
  call<Result>(process: SimulatedProcess, label: string, latency: Latency, effect: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void): void => {
        this.after(this.delay(latency), `${label} is answered`, () => {
          this.#calls -= 1;
          if (process.isAlive) settle();
        });
      };
      this.#calls += 1;
      const act = (): void => {
        if (!process.isAlive && (!process.isOutlived || this.random.next() < 0.5)) {
          this.#calls -= 1;
          return;
        }
        try {
          const result = effect();
          answer(() => resolve(result));
        } catch (error) {
          answer(() => reject(error instanceof Error ? error : new Error(String(error))));
        }
      };
      this.after(this.delay(latency), label, act, false);
    });
  }

  /** Returns the clock of a process, which may be wrong by some milliseconds. */
  clockOf(process: SimulatedProcess, skew = 0): Clock {
    return {
      now: () => this.now + skew,
      sleep: (milliseconds, until) =>
        new Promise((resolve) => {
          const woken = (): void => this.after(0, `${process.name} is woken`, wake);
          const wake = (): void => {
            until?.removeEventListener('abort', woken);
            if (process.isAlive) resolve();
          };
          this.after(milliseconds, `${process.name} wakes`, wake);
          if (until?.aborted === true) woken();
          else until?.addEventListener('abort', woken, { once: true });
        }),
    };
  }

  /** Lets events happen until some work is done. Rejects as it does. @throws Error if nothing is left that could happen */
  async run<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false;
    const settled = work.finally(() => (isDone = true));
    settled.catch(() => undefined);
    await everythingWaits();
    while (!isDone) await this.#step();
    return settled;
  }

  /** Waits for the end of all calls in progress, and then lets time pass without events: code that sleeps until then wakes afterwards. */
  async skip(milliseconds: number): Promise<void> {
    await everythingWaits();
    while (this.#calls > 0) await this.#step();
    this.#now += milliseconds;
    this.note(`${milliseconds} ms pass`);
  }

  async #step(): Promise<void> {
    const event = this.#queue.next();
    if (event === undefined) throw new Error('nothing is left that could happen, and the work is not done');
    this.#now = Math.max(this.#now, event.at);
    this.#events += 1;
    this.note(event.label);
    event.act();
    if (event.resumes) await everythingWaits();
    if (this.#failure) throw this.#failure;
  }
}

/** Resolves once all code has run that could: promises and callbacks of this turn of the event loop. */
function everythingWaits(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
