import { EventLoopBudget } from '../ports/event-loop.ts';

/** Work in steps: a generator that yields the number of steps taken since its last yield. */
export type Stepwise<Result> = Generator<number, Result, void>;

/** Keeps one request from holding up others, by counting the steps of its work. */
export interface Pace {
  /** Counts steps. @returns a promise to await before taking more, if other work must run first */
  take(steps: number): Promise<void> | undefined;
}

/**
 * One step is a comparison or a word of bits, one to five nanoseconds; a step of an {@link EventLoopBudget} is a
 * microsecond.
 */
export const stepsPerMicrosecond = 256;

/**
 * Counts the steps that evaluating policies takes for one request, for any number of keys, against the request's
 * event-loop budget.
 */
export class StepCounter implements Pace {
  readonly #budget: EventLoopBudget;
  #taken = 0;

  constructor(budget = new EventLoopBudget()) {
    this.#budget = budget;
  }

  /** The number of steps taken. */
  get taken(): number {
    return this.#taken;
  }

  take(steps: number): Promise<void> | undefined {
    this.#taken += steps;
    return this.#budget.spend(steps / stepsPerMicrosecond);
  }
}

/** Runs work to its end, pausing when its pace asks for it. */
export async function runPaced<Result>(work: Stepwise<Result>, pace: Pace): Promise<Result> {
  for (;;) {
    const next = work.next();
    if (next.done === true) return next.value;
    const turn = pace.take(next.value);
    if (turn) await turn;
  }
}
