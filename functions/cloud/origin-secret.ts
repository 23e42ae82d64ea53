import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../shared/ports/clock.ts';
import { second } from '../../shared/ports/durations.ts';
import type { Telemetry } from '../../shared/ports/telemetry.ts';

/** Milliseconds between two reads, so that forged proofs do not make a process read continuously. */
export const readingInterval = 10 * second;

export interface OriginSecretDeps {
  /** The current value of the secret. */
  readonly secret: string;
  /** Reads the current and the previous value. */
  readonly read: () => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly telemetry: Pick<Telemetry, 'problem'>;
}

/**
 * Recognises requests that came through the distribution by the secret that it adds. While a secret is rotated, for some minutes some
 * parts of the distribution send the new value and others the previous one. So an unknown value makes the process read the secret
 * again, and both the current and the previous value are accepted.
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

  /** Returns whether a value is the secret of the distribution, in constant time. */
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

  /** Reads the secret once for all waiting requests. After a failure, the known values stay valid. */
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
      this.#deps.telemetry.problem('reading the secret of the distribution again failed', error);
    }
  }
}

/** Returns a digest, as a constant-time comparison needs equal lengths. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
