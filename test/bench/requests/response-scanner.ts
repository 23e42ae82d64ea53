/** A response that has arrived completely. */
export interface ScannedResponse {
  readonly status: number;
  /** The bytes of its body, without those of chunked coding. */
  readonly bytes: number;
  /** The head as received: latin1, without the empty line at its end. */
  readonly head: string;
  /** The body, if it was to be kept or the status is 300 or more; otherwise empty. */
  readonly text: string;
  /** Whether the server closes the connection. */
  readonly closes: boolean;
}

const endOfHead = '\r\n\r\n';

/** Recognises responses of HTTP/1.1 one after the other, while their bytes arrive. Does no more than a load generator needs. */
export class ResponseScanner {
  #head = '';
  #isInBody = false;
  #isHeadRequest = false;
  #keepsBody = false;
  #kept: Buffer[] = [];
  /** Bytes left of the body, or of the present chunk with the line end after it; Infinity: up to the end of the connection. */
  #left = 0;
  #isChunked = false;
  /** The received part of a line that continues in the next chunk. */
  #line: string | undefined;
  #isInTrailers = false;
  #bytes = 0;

  /** Prepares for the response to a request. @param keepsBody false: the body is only counted */
  expect(isHeadRequest: boolean, keepsBody: boolean): void {
    this.#head = '';
    this.#isInBody = false;
    this.#isHeadRequest = isHeadRequest;
    this.#keepsBody = keepsBody;
    this.#kept = [];
    this.#bytes = 0;
    this.#isChunked = false;
    this.#line = undefined;
    this.#isInTrailers = false;
  }

  /**
   * Takes bytes, which may be overwritten afterwards. @returns the response, once it is complete
   * @throws Error for bytes that are no response of HTTP/1.1, or more than it
   */
  take(bytes: Buffer): ScannedResponse | undefined {
    let at = 0;
    if (!this.#isInBody) {
      at = this.#takeHead(bytes);
      if (!this.#isInBody) return undefined;
    }
    const isComplete = this.#isChunked ? this.#takeChunks(bytes, at) : this.#takeBytes(bytes, at);
    return isComplete ? this.#response() : undefined;
  }

  /** Returns the response that the end of the connection completes, if it does. */
  end(): ScannedResponse | undefined {
    return this.#isInBody && this.#left === Infinity ? this.#response() : undefined;
  }

  /** Returns the offset of the body, if the head is complete. */
  #takeHead(bytes: Buffer): number {
    const before = this.#head.length;
    this.#head += bytes.toString('latin1');
    const end = this.#head.indexOf(endOfHead, Math.max(0, before - 3));
    if (end < 0) return bytes.length;
    const bodyStart = end + endOfHead.length - before;
    this.#head = this.#head.slice(0, end);
    if (!this.#head.startsWith('HTTP/1.1 ')) throw new Error(`no response of HTTP/1.1: ${this.#head.slice(0, 80)}`);
    // 100 Continue: the response follows.
    if (this.#head.startsWith('HTTP/1.1 1')) {
      this.#head = '';
      return this.#takeHead(bytes.subarray(bodyStart)) + bodyStart;
    }
    this.#isInBody = true;
    // The body describes the error.
    if (this.#head[9]! >= '3') this.#keepsBody = true;
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head)?.[1];
    this.#isChunked = length === undefined && /\r\ntransfer-encoding: *chunked/i.test(this.#head);
    this.#left = length === undefined ? (this.#isChunked ? 0 : Infinity) : Number(length);
    if (this.#isHeadRequest || /^HTTP\/1.1 (?:204|304)/.test(this.#head)) {
      this.#isChunked = false;
      this.#left = 0;
    }
    if (this.#isChunked) this.#line = '';
    return bodyStart;
  }

  #takeBytes(bytes: Buffer, from: number): boolean {
    const here = bytes.length - from;
    if (here > this.#left) throw new Error('the server sent more than its response');
    this.#count(bytes, from, bytes.length);
    this.#left -= here;
    return this.#left === 0;
  }

  #takeChunks(bytes: Buffer, from: number): boolean {
    let at = from;
    while (at < bytes.length) {
      if (this.#line !== undefined) {
        const end = bytes.indexOf(10, at);
        this.#line += bytes.toString('latin1', at, end < 0 ? bytes.length : end);
        if (end < 0) return false;
        at = end + 1;
        const line = this.#line.trimEnd();
        this.#line = '';
        if (this.#isInTrailers && line === '') return true;
        if (this.#isInTrailers) continue;
        const size = Number.parseInt(line, 16);
        if (!(size >= 0)) throw new Error(`no size of a chunk: ${line.slice(0, 80)}`);
        this.#isInTrailers = size === 0;
        if (size === 0) continue;
        this.#left = size + 2;
        this.#line = undefined;
      }
      const end = Math.min(bytes.length, at + this.#left);
      // The last two bytes are the line end.
      this.#count(bytes, at, Math.min(end, at + Math.max(0, this.#left - 2)));
      this.#left -= end - at;
      at = end;
      if (this.#left === 0) this.#line = '';
    }
    return false;
  }

  #count(bytes: Buffer, from: number, until: number): void {
    this.#bytes += until - from;
    if (this.#keepsBody && until > from) this.#kept.push(Buffer.from(bytes.subarray(from, until)));
  }

  #response(): ScannedResponse {
    return {
      status: Number(this.#head.slice(9, 12)),
      bytes: this.#bytes,
      head: this.#head,
      text: this.#keepsBody ? Buffer.concat(this.#kept).toString('utf8') : '',
      closes: this.#left === Infinity || /\r\nconnection: *close/i.test(this.#head),
    };
  }
}
