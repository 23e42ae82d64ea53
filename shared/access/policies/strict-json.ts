/** A JSON document. Objects are Maps, so that no member name has a special meaning in JavaScript. */
export type Json = string | number | boolean | null | readonly Json[] | ReadonlyMap<string, Json>;

const whiteSpace = /[ \t\n\r]*/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// eslint-disable-next-line no-control-regex -- which JSON does not allow in a string
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y;
const words: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * Parses JSON (RFC 8259) for a security decision: rejects whatever two parsers could read differently. Works in one
 * pass, down to a maximum depth.
 *
 * @throws SyntaxError that says what is wrong: a duplicate name in an object, nesting that is too deep, text after the
 *   end, bytes that are not UTF-8, or any other invalid JSON
 */
export function parseStrictJson(bytes: Uint8Array, maximumDepth: number): Json {
  return new Parser(decode(bytes), maximumDepth).document();
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new SyntaxError('it is not UTF-8', { cause });
  }
}

class Parser {
  readonly #text: string;
  readonly #maximumDepth: number;
  #at = 0;

  constructor(text: string, maximumDepth: number) {
    this.#text = text;
    this.#maximumDepth = maximumDepth;
  }

  document(): Json {
    const value = this.#value(0);
    if (this.#at < this.#text.length) throw this.#unexpected();
    return value;
  }

  /** Parses a value and the white space on both sides. */
  #value(depth: number): Json {
    if (depth > this.#maximumDepth) throw new SyntaxError('it is nested too deeply');
    this.#token(whiteSpace);
    const value = this.#bareValue(depth);
    this.#token(whiteSpace);
    return value;
  }

  #bareValue(depth: number): Json {
    if (this.#take('{')) return this.#object(depth);
    if (this.#take('[')) return this.#list(depth);
    for (const [word, meaning] of words) if (this.#take(word)) return meaning;
    const digits = this.#token(number);
    if (digits !== undefined) return Number(digits);
    return this.#string();
  }

  #object(depth: number): Json {
    const members = new Map<string, Json>();
    this.#token(whiteSpace);
    if (this.#take('}')) return members;
    do {
      this.#token(whiteSpace);
      const name = this.#string();
      if (members.has(name)) throw new SyntaxError(`${JSON.stringify(name)} appears twice in one object`);
      this.#token(whiteSpace);
      this.#demand(':');
      members.set(name, this.#value(depth + 1));
    } while (this.#take(','));
    this.#demand('}');
    return members;
  }

  #list(depth: number): Json {
    const items: Json[] = [];
    this.#token(whiteSpace);
    if (this.#take(']')) return items;
    do items.push(this.#value(depth + 1));
    while (this.#take(','));
    this.#demand(']');
    return items;
  }

  #string(): string {
    const quoted = this.#token(string);
    if (quoted === undefined) throw this.#unexpected();
    return JSON.parse(quoted) as string;
  }

  #token(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #take(token: string): boolean {
    const there = this.#text.startsWith(token, this.#at);
    if (there) this.#at += token.length;
    return there;
  }

  #demand(token: string): void {
    if (!this.#take(token)) throw this.#unexpected();
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(`it is not valid JSON at character ${this.#at + 1}`);
  }
}
