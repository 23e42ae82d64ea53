import { readVariable } from './policy-keys.ts';
import { anyMany, codePoints, readWildcards, type Pattern } from './wildcard.ts';

/** What the request says about a condition key, or undefined if it says nothing. */
export type Facts = (key: string) => readonly string[] | undefined | Promise<readonly string[] | undefined>;

/** Stands for a value of the request: `${aws:username}`, `${aws:username, 'nobody'}`. */
interface Variable {
  readonly key: string;
  readonly fallback: Pattern | undefined;
}

/** A pattern with variables in it. */
export type Template = readonly (Pattern | Variable)[];

/** How a policy's version and an operator want a text read. */
export interface Reading {
  /** Whether `${…}` is a variable: since version 2012-10-17. */
  readonly variables: boolean;
  /** Whether `*` and `?` are wildcards. */
  readonly wildcards: boolean;
}

/** `${*}`, `${?}` and `${$}` are the characters themselves. */
const escapes: ReadonlySet<string> = new Set(['*', '?', '$']);

/**
 * Reads a text of a policy:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html
 *
 * @throws S3Error MalformedPolicy for a variable that is none
 */
export function readTemplate(text: string, { variables, wildcards }: Reading): Template {
  const plain = (part: string): Pattern => (wildcards ? readWildcards(part) : codePoints(part));
  if (!variables) return [plain(text)];
  const template: (Pattern | Variable)[] = [];
  let at = 0;
  for (;;) {
    const begin = text.indexOf('${', at);
    const end = begin < 0 ? -1 : text.indexOf('}', begin);
    if (end < 0) break;
    const name = text.slice(begin + 2, end);
    template.push(plain(text.slice(at, begin)));
    if (escapes.has(name)) template.push(codePoints(name));
    else {
      const { key, fallback } = readVariable(name);
      template.push({ key, fallback: fallback === undefined ? undefined : codePoints(fallback) });
    }
    at = end + 1;
  }
  return [...template, plain(text.slice(at))];
}

/**
 * The pattern with the request's values for its variables, in which no character is a wildcard.
 *
 * @param longest how long the text is that it is for
 * @returns undefined if it matches nothing, because the values are longer than that, or there are none or several of one
 */
export async function fillTemplate(template: Template, facts: Facts, longest: number): Promise<Pattern | undefined> {
  if (template.length === 1 && isPattern(template[0]!)) return template[0];
  const parts: Pattern[] = [];
  let filled = 0;
  for (const part of template) {
    if (isPattern(part)) parts.push(part);
    else {
      const values = await facts(part.key);
      const value = values?.length === 1 ? codePoints(values[0]!) : values === undefined ? part.fallback : undefined;
      filled += value?.length ?? 0;
      if (value === undefined || filled > longest) return undefined;
      parts.push(value);
    }
  }
  return parts.flat();
}

/** The patterns of those templates that can match something, as {@link fillTemplate} has it. */
export async function fillTemplates(
  templates: readonly Template[],
  facts: Facts,
  longest: number,
): Promise<readonly Pattern[]> {
  const patterns: Pattern[] = [];
  for (const template of templates) {
    const pattern = await fillTemplate(template, facts, longest);
    if (pattern !== undefined) patterns.push(pattern);
  }
  return patterns;
}

/** The widest that a template can become: each variable stands for anything. */
export function widest(template: Template): Pattern {
  return template.flatMap((part) => (isPattern(part) ? part : [anyMany]));
}

/** Whether it is a text that stands for itself alone. */
export function isFixed(template: Template): boolean {
  return !widest(template).some((one) => one < 0);
}

function isPattern(part: Pattern | Variable): part is Pattern {
  return Array.isArray(part);
}
