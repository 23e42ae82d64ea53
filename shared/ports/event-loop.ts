import { setMaxListeners } from 'node:events';

/**
 * The work that a request may do in one turn of the event loop, in steps. A step takes about a microsecond on the
 * machine that runs the tests, so a turn takes about 0.3 ms there, as much as a small request.
 */
export const stepsPerTurn = 300;

/**
 * Gives long-running work turns of the event loop, one after the other: first come, first served, and each in a turn of
 * its own, after everything that was pending has run. So a short request waits for one of them at most, however many
 * there are.
 */
export class TurnQueue {
  readonly #waiting = new Set<() => void>();
  readonly #schedule: (callback: () => void) => void;
  #isTaken = false;

  /** @param schedule calls back in the next turn of the event loop; tests pass another */
  constructor(schedule: (callback: () => void) => void = setImmediate) {
    this.#schedule = schedule;
  }

  /** Takes this turn if none has. @returns undefined; or, if it is taken, a promise of another turn, as of {@link nextTurn} */
  takeTurn(signal?: AbortSignal): Promise<void> | undefined {
    if (this.#isTaken) return this.nextTurn(signal);
    this.#take();
    return undefined;
  }

  /**
   * Resolves in another turn, which it takes.
   * @param signal once it is aborted, work leaves the queue at once: the promise rejects with its reason
   */
  nextTurn(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const leave = (): void => {
        this.#waiting.delete(goOn);
        reject(signal!.reason as Error);
      };
      const goOn = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      signal?.addEventListener('abort', leave);
      this.#waiting.add(goOn);
      if (!this.#isTaken) this.#take();
    });
  }

  /** How much work waits. */
  get length(): number {
    return this.#waiting.size;
  }

  /** Takes this turn: the first that waits has the next one. */
  #take(): void {
    this.#isTaken = true;
    this.#schedule(() => {
      this.#isTaken = false;
      const [next] = this.#waiting;
      if (next === undefined) return;
      this.#waiting.delete(next);
      this.#take();
      next();
    });
  }
}

/** The signal of work that is always wanted, however much of it there is. */
export const neverAborted: AbortSignal = new AbortController().signal;
setMaxListeners(0, neverAborted);

/** The turns of all long-running work in the process. */
const longWork = new TurnQueue();

/**
 * Waits, if other long-running work has taken this turn of the event loop. To be called before work that may well use
 * up a turn's share. Rejects once the signal is aborted.
 */
export function turnForLongWork(signal?: AbortSignal): Promise<void> | undefined {
  return longWork.takeTurn(signal);
}

/** Resolves in a turn of the event loop that no other long-running work has. Rejects once the signal is aborted. */
export function turnOfItsOwn(signal?: AbortSignal): Promise<void> {
  return longWork.nextTurn(signal);
}

/**
 * Keeps long-running work from blocking the process. Work reports its steps and waits for the next turn of the event
 * loop whenever it has used up one turn's share. Counts steps instead of reading a clock, so that the same input always
 * waits equally often. Concurrent workers may share a budget.
 */
export class EventLoopBudget {
  readonly #nextTurn: () => Promise<void>;
  #left = stepsPerTurn;
  #waiting: Promise<void> | undefined;

  /** @param nextTurn resolves in another turn of the event loop, after pending work has run; tests count its calls */
  constructor(nextTurn: () => Promise<void> = () => turnOfItsOwn()) {
    this.#nextTurn = nextTurn;
  }

  /** Returns the budget of work that nobody wants any more once the signal is aborted: it does not go on after a turn. */
  static until(signal: AbortSignal): EventLoopBudget {
    return new EventLoopBudget(() => turnOfItsOwn(signal));
  }

  /**
   * Reports steps that were taken or are about to be. @returns a promise to await before taking more; undefined while
   * steps are left, which saves a microtask
   */
  spend(steps: number): Promise<void> | undefined {
    this.#left -= steps;
    if (this.#waiting !== undefined || this.#left > 0) return this.#waiting;
    this.#waiting = this.#nextTurn().then(() => {
      this.#left = stepsPerTurn;
      this.#waiting = undefined;
    });
    return this.#waiting;
  }

  /**
   * Runs work that yields the steps taken since its last yield, in as many turns as needed. @returns the result of the
   * work
   */
  async run<Result>(work: Iterator<number, Result>): Promise<Result> {
    for (;;) {
      const { done, value } = work.next();
      if (done === true) return value;
      const wait = this.spend(value);
      if (wait !== undefined) await wait;
    }
  }

  /** Maps like `Array.prototype.map`, counting a number of steps for each result. */
  async map<Item, Result>(
    items: readonly Item[],
    steps: number,
    of: (item: Item, index: number) => Result,
  ): Promise<Result[]> {
    const results: Result[] = [];
    for (const [index, item] of items.entries()) {
      const wait = this.spend(steps);
      if (wait !== undefined) await wait;
      results.push(of(item, index));
    }
    return results;
  }
}

/** Runs stepwise work in one go, for input that is known to be small. */
export function atOnce<Result>(work: Iterator<number, Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
