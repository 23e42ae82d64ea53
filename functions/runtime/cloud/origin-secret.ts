import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../shared/ports/clock.ts';
import { second } from '../../../shared/ports/durations.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';

/** So many milliseconds lie between two readings: whoever makes proofs up must not make a process read without end. */
export const readingInterval = 10 * second;

export interface OriginSecretDeps {
  /** What the secret is now. */
  readonly secret: string;
  /** Reads what it is, and what it was before. */
  readonly read: () => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly telemetry: Pick<Telemetry, 'problem'>;
}

/**
 * Tells what came through the distribution from what did not, by the secret that the distribution adds. A secret can be renewed while
 * requests arrive: for some minutes some parts of the distribution have the new value and others the one before. So a proof that is not
 * known has the secret read again, and of what is there then either value holds.
 */
export class OriginSecret {
  readonly #deps: OriginSecretDeps;
  #known: readonly Buffer[];
  #readAt = -Infinity;
  #reading: Promise<void> | undefined;

  constructor(deps: OriginSecretDeps) {
    this.#deps = deps;
    this.#known = [digestOf(deps.secret)];
  }

  /** Whether this is the proof of the distribution. The answer takes a time that tells nothing of the secret. */
  async holds(proof: string | undefined): Promise<boolean> {
    if (proof === undefined) return false;
    const given = digestOf(proof);
    if (this.#isKnown(given)) return true;
    await this.#readAgain();
    return this.#isKnown(given);
  }

  #isKnown(given: Buffer): boolean {
    return this.#known.map((digest) => timingSafeEqual(digest, given)).includes(true);
  }

  /** Once for all who wait. Where it cannot be done, what was known holds on. */
  async #readAgain(): Promise<void> {
    const now = this.#deps.clock.now();
    if (this.#reading === undefined && Math.abs(now - this.#readAt) >= readingInterval) {
      this.#readAt = now;
      this.#reading = this.#read().finally(() => (this.#reading = undefined));
    }
    await this.#reading;
  }

  async #read(): Promise<void> {
    try {
      this.#known = (await this.#deps.read()).map(digestOf);
    } catch (error) {
      this.#deps.telemetry.problem('the secret of the distribution could not be read again', error);
    }
  }
}

/** All of one length, which a comparison in constant time asks for. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
