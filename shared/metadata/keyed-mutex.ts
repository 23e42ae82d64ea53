/**
 * Lets whoever changes the same thing in one process do it in turn, in the order they came. It keeps nobody from conflicts
 * with other processes and no promise rests on it: it only spares those who would get in each other's way all the time.
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs an action when those before it have ended, however they ended. */
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
