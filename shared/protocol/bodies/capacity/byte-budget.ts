/**
 * A budget of bytes in memory. Callers take bytes before they hold them and give them back afterwards. Requests beyond
 * the budget are refused at once, since a queue would hold their callers' connections.
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
   * Takes bytes from the budget. A request larger than the whole budget is granted only while nothing else is taken.
   * @returns a function that gives them back, once; undefined if not enough bytes are left
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

  /** Returns the highest share of the budget in use since the last call, in per cent. A refusal counts as 100. */
  peakPercent(): number {
    const peak = Math.min(this.#peak, this.#total);
    this.#peak = this.#taken;
    return Math.round((100 * peak) / this.#total);
  }
}
