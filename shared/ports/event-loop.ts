/**
 * How much work a request does in one turn of the event loop, in steps. A step is what a microsecond is about enough for on the machine
 * that the tests run on, so that a turn takes some milliseconds there and less than 10.
 */
export const stepsPerTurn = 4000;

/**
 * Keeps long work from holding up everything else in the process: it says what it does, and waits for the next turn of the event loop
 * whenever it has done as much as one turn is for. Steps are counted and no clock is read, so that the same input always waits as often.
 * One budget may be shared by workers that run at the same time.
 */
export class EventLoopBudget {
  readonly #nextTurn: () => Promise<void>;
  #left = stepsPerTurn;
  #waiting: Promise<void> | undefined;

  /** @param nextTurn resolves in the next turn of the event loop, once others had theirs; tests count its calls */
  constructor(nextTurn: () => Promise<void> = nextTurnOfTheEventLoop) {
    this.#nextTurn = nextTurn;
  }

  /**
   * Says that work of so many steps has been done, or is about to be. What it returns is to be awaited before any more is done: undefined,
   * which saves a turn of the microtasks, while there is something left.
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

  /** Does work that says after each piece how many steps it took, in as many turns as it takes. @returns what the work returns */
  async run<Result>(work: Iterator<number, Result>): Promise<Result> {
    for (;;) {
      const { done, value } = work.next();
      if (done === true) return value;
      const wait = this.spend(value);
      if (wait !== undefined) await wait;
    }
  }

  /** As `Array.prototype.map`, where each result takes so many steps. */
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

/** Does work of pieces at once, for input that is known to be small. */
export function atOnce<Result>(work: Iterator<number, Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

function nextTurnOfTheEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
