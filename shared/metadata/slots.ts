/** Limits the concurrency of some work: first come, first served. */
export class Slots {
  /** The maximum concurrency. */
  readonly count: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.count = count;
    this.#free = count;
  }

  /** Does some work once there is a slot for it. Returns its result, or rejects with its error. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
