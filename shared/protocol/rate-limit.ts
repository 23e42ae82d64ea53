import type { Clock } from '../ports/clock.ts';

/** A party has exceeded its request rate. Nothing was done for the request. */
export class RateExceeded extends Error {
  constructor() {
    super('request rate exceeded');
    this.name = 'RateExceeded';
  }
}

/** The request rates of parties, wherever they are counted. */
export interface Rates {
  /** Counts a request. @throws RateExceeded without counting it */
  admit(party: string): void | Promise<void>;
}

const second = 1000;
/** The interval after which idle parties are removed. */
const tidying = 60 * second;

/** A party's remaining requests at a moment. */
interface Allowance {
  requests: number;
  at: number;
}

/**
 * Limits the requests per second of each party in this process. After a pause, a second's worth of requests may come in
 * a burst (https://en.wikipedia.org/wiki/Token_bucket).
 */
export class RateLimit implements Rates {
  readonly #perSecond: number;
  readonly #clock: Clock;
  readonly #allowances = new Map<string, Allowance>();
  #tidied = 0;

  /** @param perSecond at least 1; Infinity: no limit */
  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  /** Counts a request. @throws RateExceeded without counting it */
  admit(party: string): void {
    if (this.take(party) > 0) throw new RateExceeded();
  }

  /** Counts a request if it is within the rate. @returns 0: it was counted; otherwise the milliseconds until one would be */
  take(party: string): number {
    if (this.#perSecond === Infinity) return 0;
    const now = this.#clock.now();
    const allowance = this.#allowanceOf(party, now);
    if (allowance.requests < 1) return Math.ceil(((1 - allowance.requests) / this.#perSecond) * second);
    allowance.requests -= 1;
    return 0;
  }

  #allowanceOf(party: string, now: number): Allowance {
    if (Math.abs(now - this.#tidied) >= tidying) this.#tidy(now);
    const known = this.#allowances.get(party);
    if (known === undefined) {
      const fresh = { requests: this.#perSecond, at: now };
      this.#allowances.set(party, fresh);
      return fresh;
    }
    // A clock that was set back adds nothing and removes nothing.
    const gained = (Math.max(0, now - known.at) / second) * this.#perSecond;
    known.requests = Math.min(this.#perSecond, known.requests + gained);
    known.at = now;
    return known;
  }

  /** Removes parties that were idle for a second, which have the same allowance as new ones. */
  #tidy(now: number): void {
    this.#tidied = now;
    for (const [party, { at }] of this.#allowances) if (now - at >= second) this.#allowances.delete(party);
  }
}
