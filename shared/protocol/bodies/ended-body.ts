/** A body that reports its end: it was read completely, broke off, or was abandoned, even before it was read. */
export class EndedBody implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #onEnd: () => void;

  /** @param onEnd called at the end, and again if more is read after that */
  constructor(body: AsyncIterable<Uint8Array>, onEnd: () => void) {
    this.#chunks = body[Symbol.asyncIterator]();
    this.#onEnd = onEnd;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    try {
      const next = await this.#chunks.next();
      if (next.done !== true) return { done: false, value: next.value };
      this.#onEnd();
      return { done: true, value: undefined };
    } catch (error) {
      this.#onEnd();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    try {
      await this.#chunks.return?.();
    } finally {
      this.#onEnd();
    }
    return { done: true, value: undefined };
  }
}
