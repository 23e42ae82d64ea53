import { S3Error } from '../../errors/s3-error.ts';
import { Query } from '../../http/query.ts';

/** More than any action has, so that a request is read in time proportional to its length. */
const maximumParameters = 1000;
const maximumNameLength = 200;

/** The form of a request in AWS's Query protocol: the action, its version and its parameters. */
export class ActionForm {
  readonly #values = new Map<string, string>();
  /** The names, and the beginnings that they have in common: `Tags`, `Tags.member`, `Tags.member.1`. */
  readonly #names = new Set<string>();

  private constructor(form: Query) {
    for (const { name, value } of form.parameters) {
      if (this.#values.has(name)) throw invalid(`The parameter ${name} occurs more than once.`);
      if (name.length > maximumNameLength) throw invalid('The name of a parameter is too long.');
      this.#values.set(name, value);
      for (let end = name.length; end > 0; end = name.lastIndexOf('.', end - 1)) this.#names.add(name.slice(0, end));
    }
  }

  /** @throws S3Error ValidationError for a form that is not well-formed, or names a parameter twice */
  static parse(bytes: Uint8Array): ActionForm {
    let form: Query;
    try {
      form = Query.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    } catch (cause) {
      throw invalid('The body is not a well-formed form.', cause);
    }
    if (form.parameters.length > maximumParameters) throw invalid('The request has too many parameters.');
    return new ActionForm(form);
  }

  /** Returns the value of a parameter: `Tags.member.1.Key`. */
  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Tells whether there is a parameter of this name, or a part of one. */
  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Returns some parameters as CloudTrail shows them: `Tags.member.1.Key` is in the member `key` of the first of `tags`. */
  shown(names: ReadonlySet<string>): Readonly<Record<string, unknown>> {
    const parts = [...this.#values].map(([name, value]): Part => ({ path: name.split('.'), value }));
    return membersOf(parts.filter(({ path }) => names.has(path[0]!)));
  }
}

/** A value, and where it belongs. */
interface Part {
  readonly path: readonly string[];
  readonly value: string;
}

function membersOf(parts: readonly Part[]): Readonly<Record<string, unknown>> {
  const members = new Map<string, Part[]>();
  for (const { path, value } of parts) {
    const [name = '', ...rest] = path;
    const shown = name.charAt(0).toLowerCase() + name.slice(1);
    const its = members.get(shown) ?? [];
    members.set(shown, its);
    its.push({ path: rest, value });
  }
  return Object.fromEntries([...members].map(([name, its]) => [name, valueOf(its)]));
}

function valueOf(parts: readonly Part[]): unknown {
  const whole = parts.find(({ path }) => path.length === 0);
  if (whole) return whole.value;
  const members = membersOf(parts);
  const [list] = Object.keys(members).length === 1 ? [members['member']] : [];
  return typeof list === 'object' && list !== null ? Object.values(list) : members;
}

export function invalid(message: string, cause?: unknown): S3Error {
  return new S3Error('ValidationError', { message, cause });
}
