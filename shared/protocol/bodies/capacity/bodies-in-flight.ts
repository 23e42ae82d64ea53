/** The resources of which a service limits the number in use. */
export type Scarce = 'connections' | 'uploads' | 'documents' | 'downloads' | 'listings';

/** Thrown if the capacity of the service is in use. The request has changed nothing, and its body was not read. */
export class AtCapacity extends Error {
  constructor(of: Scarce) {
    super(`as many ${of} are in progress as the service may have`);
    this.name = 'AtCapacity';
  }
}

/** The maximum share of one party, so that no project excludes all others. */
const shareOfParty = 0.75;

/** A body in progress that may be broken off in favour of another one. */
export interface Dispensable {
  /** Returns the milliseconds by which its client is late; zero or less if it is not. */
  lateness(): number;
  /** Breaks it off. */
  cutOff(): void;
}

/** The bodies in progress in one direction. Each takes memory for as long as its client takes. */
export class BodiesInFlight {
  readonly #of: Scarce;
  readonly #most: number;
  /** The maximum number of one party. */
  readonly mostOfParty: number;
  readonly #onRefusal: (of: Scarce) => void;
  readonly #parties = new Map<string, number>();
  readonly #dispensable = new Map<Dispensable, { readonly party: string; readonly end: () => void }>();
  #count = 0;
  #peak = 0;

  /**
   * @param most the maximum number at a time
   * @param onRefusal called for each body that is refused, or broken off in favour of another one
   */
  constructor(of: Scarce, most: number, onRefusal: (of: Scarce) => void = () => undefined) {
    this.#of = of;
    this.#most = most;
    this.mostOfParty = Math.ceil(most * shareOfParty);
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
   * Counts a body of a project, or of anonymous callers. Those whose clients are late make room for it.
   * @param places how many bodies it counts as. One that would exceed the share of its party by itself takes all of it
   * @returns a function that ends it, once
   * @throws AtCapacity
   */
  admit(party: string, places = 1): () => void {
    const taken = Math.min(places, this.mostOfParty);
    for (;;) {
      const partyIsFull = (this.#parties.get(party) ?? 0) + taken > this.mostOfParty;
      if (!partyIsFull && this.#count + taken <= this.#most) return this.add(party, taken);
      const makesRoom = this.#cutOffLatest(partyIsFull ? party : undefined);
      this.#onRefusal(this.#of);
      if (makesRoom) continue;
      throw new AtCapacity(this.#of);
    }
  }

  /** As {@link admit}, of a body that can no longer be refused: others are refused instead. */
  add(party: string, taken: number): () => void {
    this.#count += taken;
    this.#peak = Math.max(this.#peak, this.#count);
    this.#parties.set(party, (this.#parties.get(party) ?? 0) + taken);
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

  /** Allows a body that was admitted to be broken off. @returns a function that ends it */
  dispense(body: Dispensable, party: string, end: () => void): () => void {
    const entry = {
      party,
      end: () => {
        this.#dispensable.delete(body);
        end();
      },
    };
    this.#dispensable.set(body, entry);
    return entry.end;
  }

  /** Breaks off the body whose client is latest. @param party whose. Undefined: anyone's @returns whether there was one */
  #cutOffLatest(party: string | undefined): boolean {
    let latest: Dispensable | undefined;
    let lateness = 0;
    for (const [body, entry] of this.#dispensable) {
      if (party !== undefined && entry.party !== party) continue;
      const own = body.lateness();
      if (own <= lateness) continue;
      lateness = own;
      latest = body;
    }
    if (latest === undefined) return false;
    // Its place is free at once, although its connection closes later.
    this.#dispensable.get(latest)!.end();
    latest.cutOff();
    return true;
  }
}
