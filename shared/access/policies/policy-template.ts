import { readVariable } from '../policy-keys.ts';
import { anyMany, comparisonsPerStep, codePoints, readWildcards, type Pattern, type Stepwise } from './wildcard.ts';

/** The values of a condition key in a request. Undefined: none. */
export type Values = readonly string[] | undefined;

/** Looks up the values of a condition key. */
export type Facts = (key: string) => Values | Promise<Values>;

/** The values of the condition keys already looked up. */
export type KnownFacts = ReadonlyMap<string, Values>;

/** A policy variable, replaced by a value of the request: `${aws:username}`, `${aws:username, 'nobody'}`. */
interface Variable {
  readonly key: string;
  readonly fallback: Pattern | undefined;
}

/** A pattern with variables. */
export type Template = readonly (Pattern | Variable)[];

/** The rules for reading a text, which depend on the policy's version and the operator. */
export interface Reading {
  /** True if `${…}` is a variable, as since version 2012-10-17. */
  readonly variables: boolean;
  /** True if `*` and `?` are wildcards. */
  readonly wildcards: boolean;
}

/** `${*}`, `${?}` and `${$}` are escapes for these characters. */
const escapes: ReadonlySet<string> = new Set(['*', '?', '$']);

/**
 * Reads a text of a policy:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html
 *
 * @throws S3Error MalformedPolicy for an invalid variable
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

/** Returns the condition keys used as variables in templates, each once. */
export function variablesOf(templates: readonly Template[]): readonly string[] {
  return [...new Set(templates.flatMap((template) => template.flatMap((part) => (isPattern(part) ? [] : [part.key]))))];
}

/**
 * Replaces the variables by the request's values, in which no character is a wildcard. Leaves out patterns that cannot
 * match: those whose values are longer than the text, or with a variable that has no value or several.
 *
 * @param facts of all {@link variablesOf} the templates
 * @param longest the length of the longest text to match
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
    if (template.length > 1) yield (4 * (pattern?.length ?? 1)) / comparisonsPerStep;
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

/** Returns the widest pattern that a template can become: each variable matches anything. */
export function widest(template: Template): Pattern {
  return template.flatMap((part) => (isPattern(part) ? part : [anyMany]));
}

/** Tells whether a template has neither variables nor wildcards. */
export function isFixed(template: Template): boolean {
  return !widest(template).some((one) => one < 0);
}

function isPattern(part: Pattern | Variable): part is Pattern {
  return Array.isArray(part);
}
