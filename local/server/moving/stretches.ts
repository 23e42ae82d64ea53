/** A stream that is read in stretches of given lengths. */
export class Stretches {
  readonly #bytes: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#bytes = bytes[Symbol.asyncIterator]();
  }

  /** Returns the next bytes, which are fewer if the stream ends. Read them to their end before the next. */
  async *take(length: number): AsyncGenerator<Uint8Array> {
    for (let left = length; left > 0;) {
      if (this.#rest.byteLength === 0) {
        const step = await this.#bytes.next();
        if (step.done === true) return;
        this.#rest = step.value;
        continue;
      }
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.byteLength);
      left -= piece.byteLength;
      yield piece;
    }
  }

  /** Tells whether the stream has ended. */
  async hasEnded(): Promise<boolean> {
    while (this.#rest.byteLength === 0) {
      const step = await this.#bytes.next();
      if (step.done === true) return true;
      this.#rest = step.value;
    }
    return false;
  }

  /** Stops reading. */
  async close(): Promise<void> {
    await this.#bytes.return?.();
  }
}
