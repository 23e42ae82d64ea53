/** Bytes that are all in memory, in the place of a stream: whoever wants them at once takes `bytes` and spares the iteration. */
export class WholeBytes implements AsyncIterable<Uint8Array> {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.bytes.length > 0) yield this.bytes;
  }
}
