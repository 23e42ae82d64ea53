/**
 * The work that a request may do in one turn of the event loop, in steps. A step takes about a microsecond on the
 * machine that runs the tests, so a turn takes several milliseconds there, and less than 10.
 */
export const stepsPerTurn = 4000;

/**
 * Keeps long-running work from blocking the process. Work reports its steps and waits for the next turn of the event
 * loop whenever it has used up one turn's share. Counts steps instead of reading a clock, so that the same input always
 * waits equally often. Concurrent workers may share a budget.
 */
export class EventLoopBudget {
  readonly #nextTurn: () => Promise<void>;
  #left = stepsPerTurn;
  #waiting: Promise<void> | undefined;

  /** @param nextTurn resolves in the next turn of the event loop, after pending work has run; tests count its calls */
  constructor(nextTurn: () => Promise<void> = nextTurnOfTheEventLoop) {
    this.#nextTurn = nextTurn;
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

function nextTurnOfTheEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
