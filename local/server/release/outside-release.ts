import type { ReaderBarrier } from '../../../shared/storage/removal/readers.ts';
import type { Release, Sweep } from '../../../shared/storage/removal/release.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import { askRunningService, isServed } from '../data-directory/service-lock.ts';

/**
 * Frees released content for a command. Only the service knows what its requests read, so a running service does it; otherwise this
 * process does.
 */
export class OutsideRelease {
  readonly #data: string;
  readonly #table: KeyValueTable;
  readonly #release: Release;

  /** @param data the data directory */
  constructor(data: string, { table, release }: { readonly table: KeyValueTable; readonly release: Release }) {
    this.#data = data;
    this.#table = table;
    this.#release = release;
  }

  /** Frees what is due: see {@link Release.sweep}. @throws OperatorError if a running service does not answer */
  sweep(): Promise<Sweep> {
    return this.#sweep('sweep', false);
  }

  /** Frees all that no request reads, even before its grace period is over. @throws OperatorError as {@link sweep} */
  now(): Promise<Sweep> {
    return this.#sweep('release', true);
  }

  async #sweep(action: string, early: boolean): Promise<Sweep> {
    const answer = await askRunningService(this.#data, this.#table, action);
    if (answer) return answer.result as Sweep;
    return this.#release.sweep({ early, readers: this.#whileNoneRuns() });
  }

  /** The barrier against a service that started meanwhile, whose requests may have begun before the content was released. */
  #whileNoneRuns(): ReaderBarrier {
    return {
      passed: async () => ((await isServed(this.#data)) ? { has: () => true } : new Set<string>()),
    };
  }
}
