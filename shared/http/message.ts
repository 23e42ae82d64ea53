/**
 * Requests and responses, the same for every transport: raw target, header fields in order, streamed body. Nothing is
 * normalised, because a signature covers what was sent.
 */

/** Header fields with case-insensitive names (RFC 9110 §5). Values are bytes as latin1 characters, as on the wire. */
export class Fields {
  readonly #entries: (readonly [name: string, value: string])[] = [];
  /** The first value of each name. */
  readonly #first = new Map<string, string>();
  /** All values of the names that occur more than once, which few requests have. */
  #repeated: Map<string, string[]> | undefined;

  constructor(entries: Iterable<readonly [string, string]> = []) {
    for (const [name, value] of entries) this.add(name, value);
  }

  /** Creates fields from Node's `rawHeaders`: name, value, name, value … */
  static fromRaw(raw: readonly string[]): Fields {
    const fields = new Fields();
    for (let at = 0; at + 1 < raw.length; at += 2) fields.add(raw[at]!, raw[at + 1]!);
    return fields;
  }

  add(name: string, value: string): this {
    const lower = name.toLowerCase();
    this.#entries.push([lower, value]);
    const first = this.#first.get(lower);
    if (first === undefined) this.#first.set(lower, value);
    else this.#repeat(lower, first, value);
    return this;
  }

  /** Returns a field's value, with repeated fields joined by a comma (RFC 9110 §5.3), or undefined. */
  get(name: string): string | undefined {
    return this.#repeated?.get(name)?.join(',') ?? this.#first.get(name);
  }

  /** Returns the values of all fields with this name, in order. */
  all(name: string): readonly string[] {
    const first = this.#first.get(name);
    if (first === undefined) return [];
    return this.#repeated?.get(name) ?? [first];
  }

  /** Tells whether there are several fields with this name. */
  isRepeated(name: string): boolean {
    return this.#repeated?.has(name) === true;
  }

  has(name: string): boolean {
    return this.#first.has(name);
  }

  /** Returns the distinct names in lower case, in order of first appearance. */
  names(): Iterable<string> {
    return this.#first.keys();
  }

  /** Iterates over the fields in the order received, with names in lower case. */
  [Symbol.iterator](): Iterator<readonly [string, string]> {
    return this.#entries[Symbol.iterator]();
  }

  #repeat(name: string, first: string, value: string): void {
    const repeated = (this.#repeated ??= new Map<string, string[]>());
    const values = repeated.get(name);
    if (values) values.push(value);
    else repeated.set(name, [first, value]);
  }
}

/** Decodes a value that may contain unescaped UTF-8. */
export function utf8Of(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8');
}

export interface RequestMessage {
  readonly method: string;
  /** Path and query exactly as received, undecoded: `/bucket/a%2Fb?acl`. */
  readonly target: string;
  readonly fields: Fields;
  /** The bytes after transfer decoding. Reading starts with the first `next()`, which also sends 100-continue. Undefined: none are announced. */
  readonly body: AsyncIterable<Uint8Array> | undefined;
  /** True if the client connected over TLS, possibly to a trusted proxy. */
  readonly secure: boolean;
  /** The version of TLS, such as `1.3`, if the client's own connection is known. */
  readonly tlsVersion?: string | undefined;
  /** Returns the cipher of the same connection, by OpenSSL's name. */
  readonly tlsCipher?: (() => string) | undefined;
  /** Returns the number of body bytes read. */
  readonly received?: (() => number) | undefined;
  /** The client's address, as reported by trusted hops only; {@link unknownAddress} if they report something else. */
  readonly remoteAddress: string;
  /** True if it came on one connection too many: it is to be refused. */
  readonly isSurplus?: boolean | undefined;
  /** True if it is of HTTP/1.0. */
  readonly isFormer?: boolean | undefined;
  /** Closes the connection, whatever is left of the response. Undefined if the transport cannot. */
  readonly cutOff?: (() => void) | undefined;
  /** Aborted with a `ClientGone` when the connection is closed. Undefined if the transport does not see it. */
  readonly signal?: AbortSignal | undefined;
}

/** The address of a client whose proxy reports none that can be read. It meets no condition. */
export const unknownAddress = 'unknown';

export interface ResponseMessage {
  readonly status: number;
  readonly fields: Fields;
  /** Undefined: no body. Strings are sent as UTF-8. Bytes and strings get a Content-Length, unless `chunked`. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** Sends the body with chunked transfer coding, as S3 does for XML responses. */
  readonly chunked?: boolean | undefined;
}
