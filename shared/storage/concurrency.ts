import type { ItemKey } from '../ports/key-value-table.ts';

/** Runs `each` for every element, at most `width` at a time, in no particular order. Rejects with the first failure. */
export async function inParallel<One>(
  many: AsyncIterable<One> | Iterable<One>,
  width: number,
  each: (one: One) => Promise<void>,
): Promise<void> {
  const iterator = elementsOf(many);
  // Async generators queue calls of next(), so no two workers get the same element.
  const work = async (): Promise<void> => {
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) await each(step.value);
  };
  await Promise.all(Array.from({ length: width }, work));
}

async function* elementsOf<One>(many: AsyncIterable<One> | Iterable<One>): AsyncGenerator<One> {
  yield* many;
}

/** Limits the concurrency of some work: first come, first served. */
export class Slots {
  /** The maximum concurrency. */
  readonly count: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.count = count;
    this.#free = count;
  }

  /** Does some work once there is a slot for it. Returns its result, or rejects with its error. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

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
