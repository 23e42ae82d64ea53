import type { Held, ReaderBarrier, Readers, ReadersState } from '../../../shared/storage/removal/readers.ts';
import { SharedReads } from '../../../shared/storage/shared-reads.ts';
import type { Clock } from '../../../shared/ports/clock.ts';

/** Another process of the service that serves requests. */
export interface ReadingProcess {
  /** Returns what its requests may read. Rejects if the process does not answer, which does not mean that it has ended. */
  readonly readers: () => Promise<ReadersState>;
}

/** The first and the longest interval between two checks of running requests, in milliseconds. */
const firstWait = 2;
const longestWait = 250;

const everything: Held = { has: () => true };

/** The requests of all processes of a service. Only the end of a process releases what it holds. */
export class ServiceReaders implements ReaderBarrier {
  readonly #clock: Clock;
  readonly #processes = new Set<ReadingProcess>();
  readonly #stopping = new AbortController();
  /** Waits that calls share. Each begins after its calls: an earlier one may have begun before the content was released. */
  readonly #waits = new SharedReads<'barrier', Held>(() => this.#wait());

  /** @param own the readers of this process */
  constructor(own: Readers, clock: Clock) {
    this.#clock = clock;
    this.#processes.add({ readers: () => Promise.resolve(own.state()) });
  }

  /** Adds a process. @returns a function to call once it has ended */
  add(process: ReadingProcess): () => void {
    this.#processes.add(process);
    return () => this.#processes.delete(process);
  }

  passed(): Promise<Held> {
    return this.#waits.get('barrier');
  }

  /** Ends all waits: from now on, everything counts as held. */
  stop(): void {
    this.#stopping.abort();
  }

  async #wait(): Promise<Held> {
    const { signal } = this.#stopping;
    /** The processes that may run requests from before the call, with the number of their first later request. */
    const earlier = new Map<ReadingProcess, number | undefined>([...this.#processes].map((one) => [one, undefined]));
    for (let wait = firstWait; !signal.aborted; wait = Math.min(2 * wait, longestWait)) {
      const states = await this.#states();
      for (const [process] of earlier) {
        const known = states.get(process);
        if (!this.#processes.has(process)) earlier.delete(process);
        else if (known) earlier.set(process, earlier.get(process) ?? known.next);
      }
      const isOver = [...earlier].every(
        ([process, later]) => (states.get(process)?.oldest ?? 0) >= (later ?? Infinity),
      );
      if (isOver) return new Set([...states.values()].flatMap((state) => state?.held ?? []));
      await this.#clock.sleep(wait, signal);
    }
    return everything;
  }

  /** Asks every process at the same time; undefined for those that do not answer. */
  async #states(): Promise<ReadonlyMap<ReadingProcess, ReadersState | undefined>> {
    const asked = [...this.#processes].map(
      async (process) => [process, await process.readers().catch(() => undefined)] as const,
    );
    return new Map(await Promise.all(asked));
  }
}
