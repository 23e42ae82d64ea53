import type { Stepwise } from './pace.ts';
import { readVariable } from './policy-keys.ts';
import { anyMany, codePoints, readWildcards, type Pattern } from './wildcard.ts';

/** What a request says about a condition key; undefined: nothing. */
export type Values = readonly string[] | undefined;

/** Asks what the request says about a condition key. */
export type Facts = (key: string) => Values | Promise<Values>;

/** What the request says about condition keys, as far as it was asked. */
export type KnownFacts = ReadonlyMap<string, Values>;

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

/** The condition keys that stand for values in templates, each once. */
export function variablesOf(templates: readonly Template[]): readonly string[] {
  return [...new Set(templates.flatMap((template) => template.flatMap((part) => (isPattern(part) ? [] : [part.key]))))];
}

/**
 * The patterns with the request's values for their variables, in which no character is a wildcard. One that can match nothing is left
 * out: its values are longer than the text, or there are none or several of one.
 *
 * @param facts of all {@link variablesOf} them
 * @param longest how long the text is that they are for, or the longest of several
 */
export function* fillTemplates(
  templates: readonly Template[],
  facts: KnownFacts,
  longest: number,
): Stepwise<readonly Pattern[]> {
  const patterns: Pattern[] = [];
  const points = new Map<string, Pattern>();
  for (const template of templates) {
    const pattern = fillTemplate(template, facts, longest, (value) => {
      const known = points.get(value) ?? codePoints(value);
      points.set(value, known);
      return known;
    });
    if (pattern !== undefined) patterns.push(pattern);
    if (template.length > 1) yield 4 * (pattern?.length ?? 1);
  }
  return patterns;
}

function fillTemplate(
  template: Template,
  facts: KnownFacts,
  longest: number,
  pointsOf: (value: string) => Pattern,
): Pattern | undefined {
  if (template.length === 1 && isPattern(template[0]!)) return template[0];
  const parts: Pattern[] = [];
  let filled = 0;
  for (const part of template) {
    if (isPattern(part)) parts.push(part);
    else {
      const values = facts.get(part.key);
      const value = values?.length === 1 ? pointsOf(values[0]!) : values === undefined ? part.fallback : undefined;
      filled += value?.length ?? 0;
      if (value === undefined || filled > longest) return undefined;
      parts.push(value);
    }
  }
  return parts.flat();
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
