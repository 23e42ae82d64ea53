/** The number of attempts, and the time, for a call that fails. */
export interface RetryPolicy {
  readonly attempts: number;
  /** The maximum first pause in milliseconds; it doubles each time. */
  readonly pause: number;
  /** The time in milliseconds after which there are no more attempts. */
  readonly patience: number;
}

/** The attempts of one call, with the pauses between them. */
export class Attempts {
  readonly #policy: RetryPolicy;
  readonly #within: number;
  readonly #begun = performance.now();
  #made = 1;

  /** @param within the milliseconds after which no attempt is under way any more. Default: an attempt takes as long as it takes */
  constructor(policy: RetryPolicy, within = Infinity) {
    this.#policy = policy;
    this.#within = within;
  }

  /** The number of attempts made, including the current one. */
  get made(): number {
    return this.#made;
  }

  /** The milliseconds that the current attempt may take, at least 1. */
  get left(): number {
    return Math.max(1, this.#within - this.#elapsed);
  }

  get #elapsed(): number {
    return performance.now() - this.#begun;
  }

  /**
   * Waits for the next attempt, for a random time so that colliding calls spread out.
   * @returns false if there is none: the current attempt was the last
   */
  async next(): Promise<boolean> {
    const { attempts, pause, patience } = this.#policy;
    const wait = Math.random() * pause * 2 ** (this.#made - 1);
    const elapsed = this.#elapsed;
    if (this.#made >= attempts || elapsed >= patience || elapsed + wait >= this.#within) return false;
    await new Promise((resolve) => setTimeout(resolve, wait));
    this.#made++;
    return this.#elapsed < this.#within;
  }
}
