import { invalid } from './failures.ts';
import { isEqual, order, type StoredItem, type Value } from './values.ts';

/*
 * Condition, key condition and filter expressions:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
 */

/** The names and values of placeholders. */
export interface Substitutes {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, Value>>;
}

/** An expression that was read. Operands are placeholders: `#name` or `:value`. */
export type Expression =
  | { readonly is: 'and' | 'or'; readonly of: readonly [Expression, Expression] }
  | { readonly is: 'not'; readonly of: Expression }
  | { readonly is: Comparison; readonly of: readonly [string, string] }
  | { readonly is: 'between'; readonly of: readonly [string, string, string] }
  | { readonly is: 'attribute_exists' | 'attribute_not_exists'; readonly of: readonly [string] }
  | { readonly is: 'begins_with'; readonly of: readonly [string, string] };

type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>=';

const comparisons: Readonly<Record<Comparison, (a: Value | undefined, b: Value | undefined) => boolean>> = {
  '=': isEqual,
  '<>': (a, b) => !isEqual(a, b),
  '<': (a, b) => (order(a, b) ?? 0) < 0,
  '<=': (a, b) => (order(a, b) ?? 1) <= 0,
  '>': (a, b) => (order(a, b) ?? 0) > 0,
  '>=': (a, b) => (order(a, b) ?? -1) >= 0,
};

const operands = { attribute_exists: 1, attribute_not_exists: 1, begins_with: 2 } as const;
const token = /\s*(?:(<>|<=|>=|[=<>(),]|[#:]\w+|\w+)|(\S))/gy;
const maxLength = 4096;

/** Parsed expressions by their text: an adapter uses only a few. */
const read = new Map<string, Expression>();

/** Reads an expression. @throws Refusal if it is none */
export function parse(text: string): Expression {
  const known = read.get(text);
  if (known) return known;
  if (text.length > maxLength)
    throw invalid('Invalid expression: Expression size has exceeded the maximum allowed size');
  const expression = new Reader(text).whole();
  if (read.size < 10_000) read.set(text, expression);
  return expression;
}

/** Whether an item, or its absence, satisfies an expression. */
export function holds(expression: Expression, item: StoredItem | undefined, given: Substitutes): boolean {
  switch (expression.is) {
    case 'and':
      return expression.of.every((one) => holds(one, item, given));
    case 'or':
      return expression.of.some((one) => holds(one, item, given));
    case 'not':
      return !holds(expression.of, item, given);
    case 'attribute_exists':
      return valueOf(expression.of[0], item, given) !== undefined;
    case 'attribute_not_exists':
      return valueOf(expression.of[0], item, given) === undefined;
    case 'begins_with': {
      const [text, prefix] = expression.of.map((operand) => valueOf(operand, item, given)?.['S']);
      return typeof text === 'string' && typeof prefix === 'string' && text.startsWith(prefix);
    }
    case 'between': {
      const [value, low, high] = expression.of.map((operand) => valueOf(operand, item, given));
      return comparisons['>='](value, low) && comparisons['<='](value, high);
    }
    default: {
      const [left, right] = expression.of.map((operand) => valueOf(operand, item, given));
      return comparisons[expression.is](left, right);
    }
  }
}

/** Refuses placeholders that are not defined, and definitions that no expression of the request uses. */
export function checkPlaceholders(expressions: readonly Expression[], given: Substitutes): void {
  const used = new Set(expressions.flatMap(placeholders));
  for (const [kind, defined] of [
    ['ExpressionAttributeNames', given.ExpressionAttributeNames],
    ['ExpressionAttributeValues', given.ExpressionAttributeValues],
  ] as const) {
    if (defined === undefined) continue;
    const names = Object.keys(defined);
    if (names.length === 0) throw invalid(`${kind} must not be empty`);
    const idle = names.filter((name) => !used.has(name));
    if (idle.length > 0) throw invalid(`Value provided in ${kind} unused in expressions: keys: {${idle.join(', ')}}`);
  }
  for (const name of used) {
    const defined = name.startsWith('#') ? given.ExpressionAttributeNames : given.ExpressionAttributeValues;
    if (defined === undefined || !Object.hasOwn(defined, name))
      throw invalid(`An expression attribute name or value used in the expression is not defined: ${name}`);
  }
}

function placeholders(expression: Expression): readonly string[] {
  if (expression.is === 'and' || expression.is === 'or') return expression.of.flatMap(placeholders);
  return expression.is === 'not' ? placeholders(expression.of) : (expression.of as readonly string[]);
}

function valueOf(operand: string, item: StoredItem | undefined, given: Substitutes): Value | undefined {
  if (operand.startsWith(':')) return given.ExpressionAttributeValues![operand];
  const name = given.ExpressionAttributeNames![operand]!;
  return item !== undefined && Object.hasOwn(item, name) ? item[name] : undefined;
}

/** Reads tokens from left to right: NOT binds closer than AND, AND closer than OR. */
class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = Array.from(text.matchAll(token), ([, known, unknown]) => {
      if (known === undefined) throw syntaxError(unknown);
      return known;
    });
  }

  whole(): Expression {
    const expression = this.#either();
    if (this.#at < this.#tokens.length) throw syntaxError(this.#tokens[this.#at]);
    return expression;
  }

  #either(): Expression {
    let expression = this.#both();
    while (this.#takes('OR')) expression = { is: 'or', of: [expression, this.#both()] };
    return expression;
  }

  #both(): Expression {
    let expression = this.#one();
    while (this.#takes('AND')) expression = { is: 'and', of: [expression, this.#one()] };
    return expression;
  }

  #one(): Expression {
    if (this.#takes('NOT')) return { is: 'not', of: this.#one() };
    if (!this.#takes('(')) return this.#condition();
    const begun = this.#at;
    const expression = this.#either();
    this.#expect(')');
    // Two pairs about the same terms.
    if (this.#tokens[begun] === '(' && this.#closing(begun) === this.#at - 2)
      throw invalid('Invalid ConditionExpression: The expression has redundant parentheses;');
    return expression;
  }

  #condition(): Expression {
    const first = this.#next();
    if (first in operands) {
      const is = first as keyof typeof operands;
      this.#expect('(');
      const of = [this.#operand()];
      while (this.#takes(',')) of.push(this.#operand());
      this.#expect(')');
      if (of.length !== operands[is])
        throw invalid(`Incorrect number of operands for operator or function; operator or function: ${is}`);
      return { is, of } as unknown as Expression;
    }
    const left = this.#asOperand(first);
    const operator = this.#next();
    if (operator === 'BETWEEN') {
      const low = this.#operand();
      this.#expect('AND');
      return { is: 'between', of: [left, low, this.#operand()] };
    }
    if (!(operator in comparisons)) throw syntaxError(operator);
    return { is: operator as Comparison, of: [left, this.#operand()] };
  }

  #operand(): string {
    return this.#asOperand(this.#next());
  }

  #asOperand(text: string): string {
    if (!/^[#:]/.test(text)) throw syntaxError(text);
    return text;
  }

  /** Returns where the parenthesis that opens at `from` is closed. */
  #closing(from: number): number {
    let depth = 0;
    for (let at = from; at < this.#tokens.length; at += 1) {
      if (this.#tokens[at] === '(') depth += 1;
      if (this.#tokens[at] === ')' && (depth -= 1) === 0) return at;
    }
    throw syntaxError('(');
  }

  #next(): string {
    const next = this.#tokens[this.#at];
    if (next === undefined) throw syntaxError('<EOF>');
    this.#at += 1;
    return next;
  }

  #takes(text: string): boolean {
    if (this.#tokens[this.#at] !== text) return false;
    this.#at += 1;
    return true;
  }

  #expect(text: string): void {
    if (!this.#takes(text)) throw syntaxError(this.#tokens[this.#at]);
  }
}

function syntaxError(near = '<EOF>'): Error {
  return invalid(`Invalid expression: Syntax error; token: "${near}"`);
}
