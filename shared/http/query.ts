import { S3Error } from '../errors/s3-error.ts';

/** One name and value of a query string, decoded; `rawName` and `rawValue` are as sent. */
export interface QueryParameter {
  readonly name: string;
  readonly value: string;
  readonly rawName: string;
  readonly rawValue: string;
}

/** What a bare `+` stands for: a space, or itself to clients that do not escape it. */
export type Plus = ' ' | '+';

/** The parameters of a query string in their order, in one reading of it. Names keep their case. */
export class Query {
  readonly parameters: readonly QueryParameter[];
  /** What a bare `+` stands for in this reading. */
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
   * Splits a raw query string (without the `?`). A bare `+` is a space; what else it may be, {@link readings} tells.
   *
   * @throws S3Error InvalidURI for a bad percent escape or invalid UTF-8
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

  /** The ways to read the query, the likely one first. Which of them the client meant, only its signature tells. */
  *readings(): Generator<Query> {
    yield this;
    if (this.plus === '+' || !this.parameters.some(hasBarePlus)) return;
    const parameters = this.parameters.map(({ rawName, rawValue }) => decoded(rawName, rawValue, '+'));
    yield new Query(parameters, '+', this.#check);
  }

  /** The same query, which calls `check` with the name of each of its parameters that is asked for: it throws for one that must not count. */
  checkedBy(check: (name: string) => void): Query {
    return new Query(this.parameters, this.plus, check);
  }

  /** The first value of a parameter ('' if it has none), or undefined. */
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
  // Most have nothing to decode, and to find that out in here is much cheaper.
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch (cause) {
    throw new S3Error('InvalidURI', { cause });
  }
}
