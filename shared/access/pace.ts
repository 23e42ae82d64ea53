import { EventLoopBudget } from '../ports/event-loop.ts';

/** Work in steps: a generator that says now and then how many steps it has taken since. */
export type Stepwise<Result> = Generator<number, Result, void>;

/** Keeps one request from holding up the others, by the steps that its work takes. */
export interface Pace {
  /** Counts steps. @returns what to wait for before more are taken, if others must have their turn first */
  take(steps: number): Promise<void> | undefined;
}

/** A step is a comparison or a word of bits, one to five nanoseconds; one of an {@link EventLoopBudget} is a microsecond. */
export const stepsPerMicrosecond = 256;

/** Counts the steps that policies take of one request, however many keys they are for, against what it may do in a turn of the event loop. */
export class StepCounter implements Pace {
  readonly #budget: EventLoopBudget;
  #taken = 0;

  constructor(budget = new EventLoopBudget()) {
    this.#budget = budget;
  }

  /** How many steps were taken so far. */
  get taken(): number {
    return this.#taken;
  }

  take(steps: number): Promise<void> | undefined {
    this.#taken += steps;
    return this.#budget.spend(steps / stepsPerMicrosecond);
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
