/** The resources of which a service limits the number in use. */
export type Scarce = 'connections' | 'uploads' | 'documents' | 'downloads';

/** As much is in progress as the service may have at a time. Nothing was done for the request, and nothing of its body was read. */
export class AtCapacity extends Error {
  constructor(of: Scarce) {
    super(`as many ${of} are in progress as the service may have`);
    this.name = 'AtCapacity';
  }
}

/** The share that one party may have, so that no project keeps all others away. */
const shareOfParty = 0.75;

/** The bodies that are on their way in one direction. Each takes memory for as long as its client likes. */
export class BodiesInFlight {
  readonly #of: Scarce;
  readonly #most: number;
  readonly #mostOfParty: number;
  readonly #onRefusal: (of: Scarce) => void;
  readonly #parties = new Map<string, number>();
  #count = 0;
  #peak = 0;

  /** @param most how many there may be at a time */
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
