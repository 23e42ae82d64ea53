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
}

export function invalid(message: string, cause?: unknown): S3Error {
  return new S3Error('ValidationError', { message, cause });
}
