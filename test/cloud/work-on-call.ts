import { setTimeout as sleep } from 'node:timers/promises';

/** Work that runs a moment after each call, one run at a time: calls that come together share a run, and without calls nothing runs. */
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

  /** The errors of the work, which continues with the next call. */
  get failures(): readonly Error[] {
    return this.#failures;
  }

  /** Waits for a run in progress. No further run begins. */
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
