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
   * @param places how many bodies it counts as. One that would exceed the share of its party by itself takes all of it
   * @returns a function that ends it, once
   * @throws AtCapacity
   */
  admit(party: string, places = 1): () => void {
    const taken = Math.min(places, this.#mostOfParty);
    const own = this.#parties.get(party) ?? 0;
    if (this.#count + taken > this.#most || own + taken > this.#mostOfParty) {
      this.#onRefusal(this.#of);
      throw new AtCapacity(this.#of);
    }
    return this.add(party, taken);
  }

  /** As {@link admit}, of a body that can no longer be refused: others are refused instead. */
  add(party: string, taken: number): () => void {
    const own = this.#parties.get(party) ?? 0;
    this.#count += taken;
    this.#peak = Math.max(this.#peak, this.#count);
    this.#parties.set(party, own + taken);
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      this.#count -= taken;
      const left = this.#parties.get(party)! - taken;
      if (left === 0) this.#parties.delete(party);
      else this.#parties.set(party, left);
    };
  }
}
