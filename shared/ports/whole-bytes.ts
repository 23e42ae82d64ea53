/** Bytes in memory that can be used as a stream. Consumers that want them all take `bytes` and skip the iteration. */
export class WholeBytes implements AsyncIterable<Uint8Array> {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.bytes.length > 0) yield this.bytes;
  }
}
