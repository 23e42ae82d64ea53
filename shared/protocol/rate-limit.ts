import type { Clock } from '../ports/clock.ts';

/** A party has asked more often than it may. Nothing was done about its request. */
export class RateExceeded extends Error {
  constructor() {
    super('more requests a second than one may send');
    this.name = 'RateExceeded';
  }
}

/** How many requests a second parties may send, wherever they are counted. */
export interface Rates {
  /** Counts a request. @throws RateExceeded, and then it is not counted */
  admit(party: string): void | Promise<void>;
}

const second = 1000;
/** How often parties are forgotten that have not asked for a while. */
const tidying = 60 * second;

/** What a party may still send, as of a moment. */
interface Allowance {
  requests: number;
  at: number;
}

/**
 * How many requests a second each of many parties may send, in this process. After a pause, those of a second may come all at once
 * (https://en.wikipedia.org/wiki/Token_bucket).
 */
export class RateLimit implements Rates {
  readonly #perSecond: number;
  readonly #clock: Clock;
  readonly #allowances = new Map<string, Allowance>();
  #tidied = 0;

  /** @param perSecond at least 1; Infinity: nobody is ever refused */
  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  /** Counts a request. @throws RateExceeded, and then it is not counted */
  admit(party: string): void {
    if (this.#perSecond === Infinity) return;
    const now = this.#clock.now();
    const allowance = this.#allowanceOf(party, now);
    if (allowance.requests < 1) throw new RateExceeded();
    allowance.requests -= 1;
  }

  #allowanceOf(party: string, now: number): Allowance {
    if (Math.abs(now - this.#tidied) >= tidying) this.#tidy(now);
    const known = this.#allowances.get(party);
    if (known === undefined) {
      const fresh = { requests: this.#perSecond, at: now };
      this.#allowances.set(party, fresh);
      return fresh;
    }
    // A clock that was set back gives nothing, and takes nothing.
    const gained = (Math.max(0, now - known.at) / second) * this.#perSecond;
    known.requests = Math.min(this.#perSecond, known.requests + gained);
    known.at = now;
    return known;
  }

  /** Whoever has not asked for a second may send as many as somebody new. */
  #tidy(now: number): void {
    this.#tidied = now;
    for (const [party, { at }] of this.#allowances) if (now - at >= second) this.#allowances.delete(party);
  }
}
