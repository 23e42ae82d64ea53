import { S3Error } from '../errors/s3-error.ts';

/** One name and value of a query string, decoded; `rawName` and `rawValue` are as sent. */
export interface QueryParameter {
  readonly name: string;
  readonly value: string;
  readonly rawName: string;
  readonly rawValue: string;
}

/** The parameters of a query string in their order. Names keep their case. */
export class Query {
  readonly parameters: readonly QueryParameter[];
  readonly #first = new Map<string, string>();

  constructor(parameters: readonly QueryParameter[]) {
    this.parameters = parameters;
    for (const { name, value } of parameters) if (!this.#first.has(name)) this.#first.set(name, value);
  }

  /**
   * Splits a raw query string (without the `?`).
   *
   * @param plus what a raw `+` stands for: a space, or itself if the client turns out to have signed it as itself
   * @throws S3Error InvalidURI for a bad percent escape or invalid UTF-8
   */
  static parse(raw: string, plus: ' ' | '+' = ' '): Query {
    if (raw === '') return empty;
    const parameters: QueryParameter[] = [];
    for (const pair of raw.split('&')) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const rawName = equals < 0 ? pair : pair.slice(0, equals);
      const rawValue = equals < 0 ? '' : pair.slice(equals + 1);
      parameters.push({ name: decode(rawName, plus), value: decode(rawValue, plus), rawName, rawValue });
    }
    return new Query(parameters);
  }

  /** The first value of a parameter ('' if it has none), or undefined. */
  get(name: string): string | undefined {
    return this.#first.get(name);
  }

  has(name: string): boolean {
    return this.#first.has(name);
  }
}

const empty = new Query([]);

function decode(raw: string, plus: ' ' | '+'): string {
  const spaced = raw.includes('+') ? raw.replaceAll('+', plus) : raw;
  // Most have nothing to decode, and to find that out in here is much cheaper.
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch (cause) {
    throw new S3Error('InvalidURI', { cause });
  }
}
