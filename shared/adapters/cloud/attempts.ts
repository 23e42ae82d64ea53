/** How often, and for how long, a call that does not get through is sent again. */
export interface RetryPolicy {
  readonly attempts: number;
  /** The longest first pause in milliseconds; it doubles each time. */
  readonly pause: number;
  /** After so many milliseconds nothing is sent again. */
  readonly patience: number;
}

/** The attempts of one call: counts them, and waits between them. */
export class Attempts {
  readonly #policy: RetryPolicy;
  readonly #begun = performance.now();
  #made = 1;

  constructor(policy: RetryPolicy) {
    this.#policy = policy;
  }

  /** How many were made, the present one included. */
  get made(): number {
    return this.#made;
  }

  /** Whether the present one was the last. */
  get spent(): boolean {
    return this.#made >= this.#policy.attempts || performance.now() - this.#begun >= this.#policy.patience;
  }

  /** Waits for the next one, a random time so that those who met do not meet again. */
  async next(): Promise<void> {
    const longest = this.#policy.pause * 2 ** (this.#made - 1);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * longest));
    this.#made++;
  }
}
