/**
 * A request and a response as every transport delivers them: raw target, header fields in their order, streamed body.
 * Nothing here is normalised, because a signature covers what was sent.
 */

/** Header fields, names compared without case (RFC 9110 §5). Values are bytes as latin1 characters, as on the wire. */
export class Fields {
  readonly #entries: [name: string, value: string][] = [];
  readonly #byName = new Map<string, string[]>();

  constructor(entries: Iterable<readonly [string, string]> = []) {
    for (const [name, value] of entries) this.add(name, value);
  }

  /** From Node's `rawHeaders`: name, value, name, value … */
  static fromRaw(raw: readonly string[]): Fields {
    const fields = new Fields();
    for (let at = 0; at + 1 < raw.length; at += 2) fields.add(raw[at]!, raw[at + 1]!);
    return fields;
  }

  add(name: string, value: string): this {
    const lower = name.toLowerCase();
    this.#entries.push([lower, value]);
    const values = this.#byName.get(lower);
    if (values) values.push(value);
    else this.#byName.set(lower, [value]);
    return this;
  }

  /** The value, repeated fields joined with a comma (RFC 9110 §5.3), or undefined. */
  get(name: string): string | undefined {
    const values = this.#byName.get(name);
    return values === undefined ? undefined : values.length === 1 ? values[0] : values.join(',');
  }

  /** The values of every field of this name, in order. */
  all(name: string): readonly string[] {
    return this.#byName.get(name) ?? [];
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** The distinct names, lower case, in order of first appearance. */
  names(): Iterable<string> {
    return this.#byName.keys();
  }

  /** Every field, names lower case, in the order received. */
  [Symbol.iterator](): Iterator<readonly [string, string]> {
    return this.#entries[Symbol.iterator]();
  }
}

/** The text of a field's value that a client may have left UTF-8 in, unescaped. */
export function utf8Of(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8');
}

export interface RequestMessage {
  readonly method: string;
  /** Path and query exactly as received, undecoded: `/bucket/a%2Fb?acl`. */
  readonly target: string;
  readonly fields: Fields;
  /** The bytes after transfer decoding. Reading begins at the first `next()`; only then is 100-continue sent. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Whether the client reached us over TLS (through a trusted proxy, if any). */
  readonly secure: boolean;
  /** How many bytes of the body have been read so far. */
  readonly received?: () => number;
  /** The client's address, taken from a trusted hop only. */
  readonly remoteAddress: string;
}

export interface ResponseMessage {
  readonly status: number;
  readonly fields: Fields;
  /** Undefined: no body. A string is sent as UTF-8. Bytes and strings get a Content-Length, unless `chunked`. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Sends the body with chunked transfer coding, as S3 does for its XML answers. */
  readonly chunked?: boolean;
}
