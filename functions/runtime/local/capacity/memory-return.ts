import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { second } from '../../../../shared/ports/durations.ts';

/** How often to look. Buffers are dropped sooner after their use. */
const interval = 10 * second;
/** The number of bodies that must have ended for a collection to be worth it, which stops the process for some 20 ms. */
const leastEnded = 64;

/** Counts bodies in progress. */
interface Counted {
  readonly count: number;
  /** Returns the most since the last call. */
  takePeak(): number;
}

/**
 * Has the garbage collected after many bodies were in progress at once. Their buffers live for long, and V8 collects such memory only when
 * the service has allocated several times as much (ADR 66): after a burst of slow uploads, that may be never.
 */
export class MemoryReturn {
  readonly #counted: readonly Counted[];
  readonly #collect: () => void;
  readonly #timer: NodeJS.Timeout;
  #peak = 0;
  #isDue = false;

  /** @param counted what takes memory. @param collect collects all garbage */
  constructor(counted: readonly Counted[], collect = collectGarbage()) {
    this.#counted = counted;
    this.#collect = collect;
    this.#timer = setInterval(() => this.look(), interval).unref();
  }

  /** Collects garbage if most of many bodies have ended. */
  look(): void {
    const count = this.#counted.reduce((sum, one) => sum + one.count, 0);
    const peak = this.#counted.reduce((sum, one) => sum + one.takePeak(), 0);
    this.#peak = Math.max(this.#peak, peak);
    const hasEnded = this.#peak - count >= leastEnded && count <= this.#peak / 2;
    // At the second look, so that what ended just now is garbage.
    if (hasEnded && this.#isDue) {
      this.#peak = count;
      this.#collect();
    }
    this.#isDue = hasEnded && !this.#isDue;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** Returns V8's function for it, which only new contexts get after the start: https://nodejs.org/api/cli.html#--expose-gc */
function collectGarbage(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
