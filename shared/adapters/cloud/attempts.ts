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
  readonly #begun = performance.now();
  #made = 1;

  constructor(policy: RetryPolicy) {
    this.#policy = policy;
  }

  /** The number of attempts made, including the current one. */
  get made(): number {
    return this.#made;
  }

  /** True if the current attempt was the last. */
  get spent(): boolean {
    return this.#made >= this.#policy.attempts || performance.now() - this.#begun >= this.#policy.patience;
  }

  /** Waits for the next attempt, for a random time so that colliding calls spread out. */
  async next(): Promise<void> {
    const longest = this.#policy.pause * 2 ** (this.#made - 1);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * longest));
    this.#made++;
  }
}
