/**
 * Serialises actions of one process per name, first come, first served. It is no protection against other processes and
 * correctness does not depend on it: it only spares conflicting writers their retries.
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
