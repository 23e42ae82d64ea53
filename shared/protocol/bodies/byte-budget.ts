/**
 * Bytes that may be held in memory at once. Whoever is about to hold some takes them, and gives them back afterwards; what is more than
 * is left is refused at once, as a queue would hold its callers' connections.
 */
export class ByteBudget {
  readonly #total: number;
  #taken = 0;
  #peak = 0;

  /** @param total in bytes */
  constructor(total: number) {
    this.#total = total;
  }

  /**
   * Takes bytes from the budget. What is larger than the whole of it is let through alone.
   * @returns what gives them back, once; undefined if so many are not left
   */
  take(bytes: number): (() => void) | undefined {
    if (this.#taken > 0 && this.#taken + bytes > this.#total) {
      this.#peak = this.#total;
      return undefined;
    }
    this.#taken += bytes;
    this.#peak = Math.max(this.#peak, this.#taken);
    let isGivenBack = false;
    return () => {
      if (isGivenBack) return;
      isGivenBack = true;
      this.#taken -= bytes;
    };
  }

  /** The largest share of the budget that was taken at once since the last call, in per cent; a refusal counts as all of it. */
  peakPercent(): number {
    const peak = Math.min(this.#peak, this.#total);
    this.#peak = this.#taken;
    return Math.round((100 * peak) / this.#total);
  }
}
