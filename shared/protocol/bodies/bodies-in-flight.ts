/** The resources of which a service limits the number in use. */
export type Scarce = 'connections' | 'uploads' | 'documents' | 'downloads';

/** Thrown if the capacity of the service is in use. The request has changed nothing, and its body was not read. */
export class AtCapacity extends Error {
  constructor(of: Scarce) {
    super(`as many ${of} are in progress as the service may have`);
    this.name = 'AtCapacity';
  }
}

/** The maximum share of one party, so that no project excludes all others. */
const shareOfParty = 0.75;

/** The bodies in progress in one direction. Each takes memory for as long as its client takes. */
export class BodiesInFlight {
  readonly #of: Scarce;
  readonly #most: number;
  readonly #mostOfParty: number;
  readonly #onRefusal: (of: Scarce) => void;
  readonly #parties = new Map<string, number>();
  #count = 0;
  #peak = 0;

  /** @param most the maximum number at a time */
  constructor(of: Scarce, most: number, onRefusal: (of: Scarce) => void = () => undefined) {
    this.#of = of;
    this.#most = most;
    this.#mostOfParty = Math.ceil(most * shareOfParty);
    this.#onRefusal = onRefusal;
  }

  get count(): number {
    return this.#count;
  }

  /** Returns the greatest number since the last call. */
  takePeak(): number {
    const peak = this.#peak;
    this.#peak = this.#count;
    return peak;
  }

  /**
   * Counts a body of a project, or of anonymous callers.
   * @returns a function that ends it, once
   * @throws AtCapacity
   */
  admit(party: string): () => void {
    const own = this.#parties.get(party) ?? 0;
    if (this.#count >= this.#most || own >= this.#mostOfParty) {
      this.#onRefusal(this.#of);
      throw new AtCapacity(this.#of);
    }
    this.#count += 1;
    this.#peak = Math.max(this.#peak, this.#count);
    this.#parties.set(party, own + 1);
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      this.#count -= 1;
      const left = this.#parties.get(party)! - 1;
      if (left === 0) this.#parties.delete(party);
      else this.#parties.set(party, left);
    };
  }
}
