import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Work that is done a moment after each call for it, once at a time: of calls that come together one is enough, and while nobody
 * calls nothing is done.
 */
export class WorkOnCall {
  readonly #pause: number;
  readonly #work: () => Promise<unknown>;
  readonly #failures: Error[] = [];
  readonly #end = new AbortController();
  #isCalled = false;
  #running: Promise<void> | undefined;

  /** @param pause how many milliseconds lie before it is done, and between two times */
  constructor(pause: number, work: () => Promise<unknown>) {
    this.#pause = pause;
    this.#work = work;
  }

  call(): void {
    this.#isCalled = true;
    this.#running ??= this.#run();
  }

  /** What it threw. It goes on with the next call. */
  get failures(): readonly Error[] {
    return this.#failures;
  }

  /** Waits until what has begun is done. Nothing begins any more. */
  async stop(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    while (this.#isCalled && !signal.aborted) {
      await sleep(this.#pause, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) break;
      this.#isCalled = false;
      try {
        await this.#work();
      } catch (error) {
        this.#failures.push(error as Error);
      }
    }
    this.#running = undefined;
  }
}
