/** The data that requests of one process may still read. Requests are numbered in the order in which they begin. */
export interface ReadersState {
  /** The number of the next request. */
  readonly next: number;
  /** The number of the oldest request that may find something or use what it has found; `next` if there is none. */
  readonly oldest: number;
  /** The contents (`b…`, `m…`) and details (`d…`) that requests have found, and may read until they end. */
  readonly held: readonly string[];
}

/**
 * The running requests of a process, which protect data from being freed (epoch-based reclamation). A working request may find anything
 * in the table, so data that loses its last reference is kept until all earlier requests have ended. While a request waits for its client
 * it finds nothing new, and holds only what it has found: a slow client keeps one object, not everything.
 */
export class Readers {
  #next = 1;
  /** The numbers of the requests that are working, in order. */
  readonly #working = new Set<number>();
  /** The number of requests that hold a thing, by its id. */
  readonly #held = new Map<string, number>();

  /** Returns a reader for a request that begins, and works until it waits. */
  begin(): Reader {
    return new Reader(this);
  }

  state(): ReadersState {
    const [oldest = this.#next] = this.#working;
    return { next: this.#next, oldest, held: [...this.#held.keys()] };
  }

  /** @internal */
  enter(): number {
    const number = this.#next;
    this.#next += 1;
    this.#working.add(number);
    return number;
  }

  /** @internal */
  leave(number: number): void {
    this.#working.delete(number);
  }

  /** @internal */
  hold(thing: string): void {
    this.#held.set(thing, (this.#held.get(thing) ?? 0) + 1);
  }

  /** @internal */
  letGo(thing: string): void {
    const others = this.#held.get(thing)! - 1;
    if (others > 0) this.#held.set(thing, others);
    else this.#held.delete(thing);
  }
}

/** One request among the {@link Readers} of its process. It must be ended in any case. */
export class Reader {
  readonly #readers: Readers;
  readonly #held = new Set<string>();
  /** The number of tasks of the request in progress, not counting those that wait for its client. */
  #tasks = 1;
  #number: number | undefined;
  #hasEnded = false;

  /** @internal */
  constructor(readers: Readers) {
    this.#readers = readers;
    this.#number = readers.enter();
  }

  /** Holds things that the request has found, until it ends. Call this while it works. */
  hold(things: readonly string[]): void {
    for (const thing of things) {
      if (this.#hasEnded || this.#held.has(thing)) continue;
      this.#held.add(thing);
      this.#readers.hold(thing);
    }
  }

  /** The request begins to wait for its client. Until {@link resume}, it uses only what it holds. */
  wait(): void {
    this.#tasks -= 1;
    if (this.#tasks > 0 || this.#number === undefined) return;
    this.#readers.leave(this.#number);
    this.#number = undefined;
  }

  /** The request works again, or does another thing at the same time. */
  resume(): void {
    this.#tasks += 1;
    if (!this.#hasEnded) this.#number ??= this.#readers.enter();
  }

  /** Does some work, also while another part of the request waits. */
  async working<Result>(work: () => Promise<Result>): Promise<Result> {
    this.resume();
    try {
      return await work();
    } finally {
      this.wait();
    }
  }

  /** Ends the request. May be repeated. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#number !== undefined) this.#readers.leave(this.#number);
    this.#number = undefined;
    for (const thing of this.#held) this.#readers.letGo(thing);
  }
}

/** Tells which things requests may still read. */
export interface ReaderBarrier {
  /**
   * Resolves once no request that began before the call is working. Only requests that hold it can then still read data that nothing
   * referred to at the call.
   */
  passed(): Promise<Held>;
}

/** The data that requests still hold. */
export interface Held {
  has(thing: string): boolean;
}
