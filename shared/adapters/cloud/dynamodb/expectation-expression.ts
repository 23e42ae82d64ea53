import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Expectation } from '../../../ports/key-value-table.ts';
import { marshal, storedName } from './attribute-values.ts';

/** The parameters of DynamoDB's writes for a condition. */
export interface ConditionParameters {
  readonly ConditionExpression: string;
  readonly ExpressionAttributeNames: Record<string, string>;
  readonly ExpressionAttributeValues?: Record<string, AttributeValue>;
  /** Returns the current item when the condition fails, which saves the caller a read. */
  readonly ReturnValuesOnConditionCheckFailure: 'ALL_OLD';
}

/** Translates an expectation into a condition expression. */
export function conditionParameters(expectation: Expectation): ConditionParameters {
  const names = new Placeholders<string>('#n');
  const values = new Placeholders<string | number>(':v');
  const ConditionExpression = compile(expectation, names, values);
  const marshalled = values.given().map(([placeholder, value]) => [placeholder, marshal(value)] as const);
  return {
    ConditionExpression,
    ExpressionAttributeNames: Object.fromEntries(names.given()),
    // DynamoDB rejects an empty map of values. Names are never empty: every expression has some.
    ...(marshalled.length === 0 ? {} : { ExpressionAttributeValues: Object.fromEntries(marshalled) }),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

function compile(expectation: Expectation, names: Placeholders<string>, values: Placeholders<string | number>): string {
  switch (expectation.is) {
    case 'absent':
      return `attribute_not_exists(${names.of('pk')})`;
    case 'present':
      return `attribute_exists(${names.of('pk')})`;
    case 'equal':
      return `${names.of(storedName(expectation.attribute))} = ${values.of(expectation.value)}`;
    case 'less':
      return `${names.of(storedName(expectation.attribute))} < ${values.of(expectation.value)}`;
    case 'missing':
      return `attribute_not_exists(${names.of(storedName(expectation.attribute))})`;
    case 'all':
    case 'any': {
      const [first, ...others] = expectation.of.map((one) => compile(one, names, values));
      const word = expectation.is === 'all' ? 'AND' : 'OR';
      if (first === undefined) return ofNothing(word, names.of('pk'));
      // DynamoDB rejects redundant parentheses: a single term has none, and several terms are always part of a longer
      // expression or in its only pair.
      return others.length === 0 ? first : `(${[first, ...others].join(` ${word} `)})`;
    }
  }
}

/**
 * Translates an empty list: "all of nothing" holds for every item and "any of nothing" for none. DynamoDB has no
 * literals for true and false.
 */
function ofNothing(word: 'AND' | 'OR', pk: string): string {
  const opposite = word === 'AND' ? 'OR' : 'AND';
  return `(attribute_exists(${pk}) ${opposite} attribute_not_exists(${pk}))`;
}

/** Assigns one placeholder to each distinct value. */
class Placeholders<T> {
  readonly #sign: string;
  readonly #placeholders = new Map<T, string>();

  constructor(sign: string) {
    this.#sign = sign;
  }

  of(thing: T): string {
    const placeholder = this.#placeholders.get(thing) ?? `${this.#sign}${this.#placeholders.size}`;
    this.#placeholders.set(thing, placeholder);
    return placeholder;
  }

  given(): (readonly [placeholder: string, thing: T])[] {
    return [...this.#placeholders].map(([thing, placeholder]) => [placeholder, thing] as const);
  }
}
