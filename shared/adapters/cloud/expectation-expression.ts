import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Expectation } from '../../ports/key-value-table.ts';
import { marshal, storedName } from './attribute-values.ts';

/** The parameters by which DynamoDB's writes take a condition. */
export interface ConditionParameters {
  readonly ConditionExpression: string;
  readonly ExpressionAttributeNames: Record<string, string>;
  readonly ExpressionAttributeValues?: Record<string, AttributeValue>;
  /** With a refusal comes the item as it is, which saves the caller a read. */
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
    // DynamoDB refuses an empty map of values. Names there always are: every expression names something.
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
      // DynamoDB refuses redundant parentheses: one term goes without, several are always a term of something longer
      // or stand in the only pair there is.
      return others.length === 0 ? first : `(${[first, ...others].join(` ${word} `)})`;
    }
  }
}

/** "All of nothing" holds of every item and "any of nothing" of none; DynamoDB has no words for true and false. */
function ofNothing(word: 'AND' | 'OR', pk: string): string {
  const opposite = word === 'AND' ? 'OR' : 'AND';
  return `(attribute_exists(${pk}) ${opposite} attribute_not_exists(${pk}))`;
}

/** Hands out one placeholder for each distinct thing. */
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
