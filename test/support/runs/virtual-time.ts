import type { Clock } from '../../../shared/ports/clock.ts';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/**
 * Time that passes only while all work waits: then the earliest sleeper wakes, and the clock jumps to that time. Work that only waits for
 * this clock takes its real duration, even concurrently, in no time.
 */
export class VirtualTime implements Clock {
  #now: number;
  readonly #sleepers: Sleeper[] = [];

  constructor(start = Date.UTC(2027, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  sleep(milliseconds: number, until?: AbortSignal): Promise<void> {
    if (until?.aborted) return Promise.resolve();
    return new Promise((wake) => {
      const sleeper = { at: this.#now + milliseconds, wake };
      const later = this.#sleepers.findLastIndex(({ at }) => at <= sleeper.at);
      this.#sleepers.splice(later + 1, 0, sleeper);
      const end = (): void => {
        const at = this.#sleepers.indexOf(sleeper);
        if (at >= 0) this.#sleepers.splice(at, 1);
        wake();
      };
      until?.addEventListener('abort', end, { once: true });
    });
  }

  /** Lets time pass until some work is done. @throws Error if it waits for something else than time */
  async pass<Result>(work: Promise<Result>): Promise<Result> {
    let done = false;
    const settled = work.finally(() => (done = true));
    settled.catch(() => undefined);
    for (;;) {
      // Lets all code run that has nothing to wait for.
      await new Promise((resolve) => setImmediate(resolve));
      if (done) return settled;
      const next = this.#sleepers.shift();
      if (next === undefined) throw new Error('nobody waits for the time');
      this.#now = Math.max(this.#now, next.at);
      next.wake();
    }
  }

  /** Lets nothing happen until then. */
  skip(milliseconds: number): void {
    this.#now += milliseconds;
  }
}
