import { Session } from 'node:inspector';
import { sources } from '../../../bin/roots.mjs';

/** The program's own code, and the parser of XML. */
const isCounted = new RegExp(`/(?:${sources.join('|')}|saxes)/`);

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

/**
 * Counts the executions of every block of the program's own code, as V8 counts them for coverage. The same work has the same count on every
 * machine. Work within one call of the engine is not counted, such as a search in a text: so no pattern may backtrack, which lint checks.
 */
export class StepCounter {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** Returns the number of blocks that run during the work. */
  async count(work: () => unknown): Promise<number> {
    this.#take();
    await work();
    return this.#take();
  }

  close(): void {
    this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }

  #take(): number {
    let steps = 0;
    this.#session.post('Profiler.takePreciseCoverage', (_, { result }: Coverage) => {
      for (const { url, functions } of result) {
        if (!isCounted.test(url)) continue;
        for (const { ranges } of functions) for (const { count } of ranges) steps += count;
      }
    });
    return steps;
  }
}
