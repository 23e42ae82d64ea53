import type { ItemKey } from '../ports/key-value-table.ts';

/**
 * Serialises actions of one process per name, first come, first served. Does not protect against other processes, and
 * correctness does not depend on it: it only saves retries after conflicts.
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs an action once the earlier ones have settled, whether they fulfilled or rejected. */
  async run<Result>(name: string, action: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(name);
    const mine = before === undefined ? action() : before.then(action, action);
    this.#last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name);
    }
  }
}

/** Returns the name under which changes of an item are serialised. */
export function mutexName({ pk, sk }: ItemKey): string {
  return `${pk}\n${sk}`;
}
