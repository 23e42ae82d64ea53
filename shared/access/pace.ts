/** Work in steps: a generator that says now and then how many steps it has taken since. */
export type Stepwise<Result> = Generator<number, Result, void>;

/** Keeps one request from holding up the others, by the steps that its work takes. */
export interface Pace {
  /** Counts steps. @returns what to wait for before more are taken, if others must have their turn first */
  take(steps: number): Promise<void> | undefined;
}

/** A step is a comparison or a word of bits, one to five nanoseconds: these are about a millisecond. */
const stepsPerTurn = 1 << 18;

/** Counts the steps of one request, however many keys they are for, and lets the event loop turn between them. */
export class StepCounter implements Pace {
  #taken = 0;
  #left = stepsPerTurn;
  /** What all parts of the request wait for that run at the same time, or each would have a turn's steps for itself. */
  #turn: Promise<void> | undefined;

  /** How many steps were taken so far. */
  get taken(): number {
    return this.#taken;
  }

  take(steps: number): Promise<void> | undefined {
    this.#taken += steps;
    this.#left -= steps;
    if (this.#left > 0) return undefined;
    this.#turn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#left = stepsPerTurn;
        this.#turn = undefined;
        resolve();
      });
    });
    return this.#turn;
  }
}

/** Does work at its pace. */
export async function runPaced<Result>(work: Stepwise<Result>, pace: Pace): Promise<Result> {
  for (;;) {
    const next = work.next();
    if (next.done === true) return next.value;
    const turn = pace.take(next.value);
    if (turn) await turn;
  }
}

/** Does work that is known to be short. */
export function runAtOnce<Result>(work: Stepwise<Result>): Result {
  for (;;) {
    const next = work.next();
    if (next.done === true) return next.value;
  }
}
