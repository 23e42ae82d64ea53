import type { Clock } from '../../../shared/ports/clock.ts';

/** A clock whose sleepers wake when it is set. */
export class StepClock implements Clock {
  time: number;
  readonly #sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();

  constructor(time = 1_000_000) {
    this.time = time;
  }

  now(): number {
    return this.time;
  }

  sleep(milliseconds: number, until?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        until?.removeEventListener('abort', wake);
        this.#sleepers.delete(sleeper);
        resolve();
      };
      const sleeper = { at: this.time + milliseconds, wake };
      until?.addEventListener('abort', wake);
      this.#sleepers.add(sleeper);
    });
  }

  /** Lets time pass, and what waited for it go on. */
  async pass(milliseconds: number): Promise<void> {
    this.time += milliseconds;
    for (const { at, wake } of [...this.#sleepers]) if (at <= this.time) wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
