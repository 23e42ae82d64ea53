import { S3Error } from '../errors/s3-error.ts';

/** A decoded query parameter; `rawName` and `rawValue` are as sent. */
export interface QueryParameter {
  readonly name: string;
  readonly value: string;
  readonly rawName: string;
  readonly rawValue: string;
}

/** The meaning of a bare `+`: a space, or a plus sign for clients that do not escape it. */
export type Plus = ' ' | '+';

/** The parameters of a query string in order, in one of its readings. Names are case-sensitive. */
export class Query {
  readonly parameters: readonly QueryParameter[];
  /** The meaning of a bare `+` in this reading. */
  readonly plus: Plus;
  readonly #first = new Map<string, string>();
  readonly #check: ((name: string) => void) | undefined;

  private constructor(parameters: readonly QueryParameter[], plus: Plus, check?: (name: string) => void) {
    this.parameters = parameters;
    this.plus = plus;
    this.#check = check;
    for (const { name, value } of parameters) if (!this.#first.has(name)) this.#first.set(name, value);
  }

  static readonly empty = new Query([], ' ');

  /**
   * Parses a raw query string (without the `?`). A bare `+` is a space; {@link readings} returns the alternatives.
   *
   * @throws S3Error InvalidURI for an invalid percent escape or invalid UTF-8
   */
  static parse(raw: string): Query {
    if (raw === '') return Query.empty;
    const parameters: QueryParameter[] = [];
    for (const pair of raw.split('&')) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const rawName = equals < 0 ? pair : pair.slice(0, equals);
      const rawValue = equals < 0 ? '' : pair.slice(equals + 1);
      parameters.push(decoded(rawName, rawValue, ' '));
    }
    return new Query(parameters, ' ');
  }

  /**
   * Yields the possible readings of the query, the most likely first. Only the signature tells which one the client
   * meant.
   */
  *readings(): Generator<Query> {
    yield this;
    if (this.plus === '+' || !this.parameters.some(hasBarePlus)) return;
    const parameters = this.parameters.map(({ rawName, rawValue }) => decoded(rawName, rawValue, '+'));
    yield new Query(parameters, '+', this.#check);
  }

  /**
   * Returns the same query, but calls `check` with the name of each parameter that is read: it throws if the parameter
   * must not be used.
   */
  checkedBy(check: (name: string) => void): Query {
    return new Query(this.parameters, this.plus, check);
  }

  /** Returns the first value of a parameter ('' if it has none), or undefined. */
  get(name: string): string | undefined {
    const value = this.#first.get(name);
    if (value !== undefined) this.#check?.(name);
    return value;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }
}

function hasBarePlus({ rawName, rawValue }: QueryParameter): boolean {
  return rawName.includes('+') || rawValue.includes('+');
}

function decoded(rawName: string, rawValue: string, plus: Plus): QueryParameter {
  return { name: decode(rawName, plus), value: decode(rawValue, plus), rawName, rawValue };
}

function decode(raw: string, plus: Plus): string {
  const spaced = raw.includes('+') ? raw.replaceAll('+', plus) : raw;
  // Most have nothing to decode, and checking that here is much cheaper.
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch (cause) {
    throw new S3Error('InvalidURI', { cause });
  }
}
