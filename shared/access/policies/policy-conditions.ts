import type { EventLoopBudget } from '../../ports/event-loop.ts';
import type { AddressRange } from './address-ranges.ts';
import { malformedPolicy } from './malformed-policy.ts';
import { keysOfAccounts, readConditionKey } from '../policy-keys.ts';
import { readOperator } from './policy-operators.ts';
import type { KnownFacts, Values } from './policy-template.ts';
import type { Json } from './strict-json.ts';

/** A condition operator applied to one key. */
export interface Condition {
  readonly key: string;
  /** True if only finitely many values, which the policy names, can meet the condition, or only the addresses of `ranges`. */
  readonly isRestrictive: boolean;
  /** The ranges of addresses that the policy names. */
  readonly ranges?: readonly AddressRange[] | undefined;
  /** True if the operator requires that none of the policy's values matches. */
  readonly negated: boolean;
  /** The condition keys used as variables in the condition's values. */
  readonly variables: readonly string[];
  /**
   * Tells whether the condition is met. The result follows from these values alone.
   * @param values of the key
   * @param facts of the variables, if there are values
   */
  isMet(values: Values, facts: KnownFacts, budget: EventLoopBudget): Promise<boolean> | boolean;
}

/**
 * The set operator. Without one, a single matching value is enough, and a negated operator requires that none matches.
 */
type Quantifier = 'ForAllValues' | 'ForAnyValue' | undefined;

/**
 * Reads the conditions of a statement:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
 *
 * @param variables whether `${…}` is a variable
 * @param readKey reads a condition key
 * @throws S3Error MalformedPolicy
 */
export function readConditions(
  json: Json,
  variables: boolean,
  readKey: (text: string) => string = readConditionKey,
): readonly Condition[] {
  if (!(json instanceof Map)) throw malformedPolicy('Condition must be an object');
  return [...(json as ReadonlyMap<string, Json>)].flatMap(([operator, keys]) => {
    if (!(keys instanceof Map)) throw malformedPolicy('The value of a condition operator must be an object', operator);
    return [...(keys as ReadonlyMap<string, Json>)].map(([key, values]) =>
      readCondition(operator, readKey(key), readValues(values, key), variables),
    );
  });
}

function readValues(json: Json, key: string): readonly string[] {
  const values = Array.isArray(json) ? (json as readonly Json[]) : [json];
  if (values.length === 0) throw malformedPolicy('A condition must have a value', key);
  return values.map((value) => {
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    throw malformedPolicy('The values of a condition must be strings', key);
  });
}

const shape = /^(?:(ForAllValues|ForAnyValue):)?([A-Za-z]+?)(IfExists)?$/;

function readCondition(spelling: string, key: string, values: readonly string[], variables: boolean): Condition {
  const [, quantifier, name = '', ifExists] = shape.exec(spelling) ?? [];
  if (name === 'Null') {
    if (spelling !== 'Null') throw malformedPolicy('Null takes neither a prefix nor IfExists', spelling);
    return absence(key, values);
  }
  const operator = readOperator(name);
  if (operator === undefined) throw malformedPolicy('Policy has an invalid condition operator', spelling);
  const { negated } = operator;
  const operands = operator.read(values, variables, (value) => {
    throw malformedPolicy(`Invalid value for ${spelling}`, value);
  });
  const test = quantify(quantifier as Quantifier, negated);
  const whenMissing = ifExists !== undefined || quantifier === 'ForAllValues' || (negated && quantifier === undefined);
  return {
    key,
    isRestrictive: !negated && !whenMissing && operands.areFixed,
    ranges: operands.ranges,
    negated,
    variables: operands.variables,
    isMet: async (found, facts, budget) => {
      if (found === undefined || found.length === 0) return whenMissing;
      const matches = await Promise.all(found.map(async (value) => operands.matchAny(value, facts, budget)));
      return test(keysOfAccounts.has(key) ? [matches.includes(true)] : matches);
    },
  };
}

/**
 * Combines the results for a request's values, given whether each matches one of the policy's values. Negation applies
 * to each value, not to the whole: `ForAnyValue:StringNotEquals` requires one value that is none of those named.
 */
function quantify(quantifier: Quantifier, negated: boolean): (matches: readonly boolean[]) => boolean {
  const every = quantifier === 'ForAllValues' || (quantifier === undefined && negated);
  return (matches) => (every ? matches.every((one) => one !== negated) : matches.some((one) => one !== negated));
}

/** Reads `Null`, which tests whether the request has no value for a key. */
function absence(key: string, values: readonly string[]): Condition {
  const wanted = values.map((value) => value.toLowerCase());
  if (!wanted.every((value) => value === 'true' || value === 'false')) {
    throw malformedPolicy('Null must be given true or false', key);
  }
  return {
    key,
    isRestrictive: false,
    negated: false,
    variables: [],
    isMet: (found = []) => wanted.includes(found.length === 0 ? 'true' : 'false'),
  };
}
