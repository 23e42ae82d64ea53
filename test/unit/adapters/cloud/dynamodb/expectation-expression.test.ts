import { describe, expect, it } from 'vitest';
import { conditionParameters } from '../../../../../shared/adapters/cloud/dynamodb/expectation-expression.ts';
import type { Expectation } from '../../../../../shared/ports/key-value-table.ts';

const rIs = (value: string): Expectation => ({ is: 'equal', attribute: 'r', value });
const noVersion: Expectation = { is: 'missing', attribute: 'v' };

/** The expression with its placeholders filled in. */
function written(expectation: Expectation): string {
  const {
    ConditionExpression,
    ExpressionAttributeNames,
    ExpressionAttributeValues = {},
  } = conditionParameters(expectation);
  return ConditionExpression.replaceAll(/#n\d+/g, (name) => ExpressionAttributeNames[name] ?? '?').replaceAll(
    /:v\d+/g,
    (value) => JSON.stringify(ExpressionAttributeValues[value]),
  );
}

describe('conditionParameters', () => {
  it.each<[string, Expectation]>([
    ['attribute_not_exists(pk)', { is: 'absent' }],
    ['attribute_exists(pk)', { is: 'present' }],
    ['r = {"S":"x"}', rIs('x')],
    ['n = {"N":"7"}', { is: 'equal', attribute: 'n', value: 7 }],
    ['i < {"S":"x"}', { is: 'less', attribute: 'i', value: 'x' }],
    ['attribute_not_exists(v)', noVersion],
    ['attribute_not_exists(_pk)', { is: 'missing', attribute: 'pk' }],
    ['(attribute_not_exists(v) AND r = {"S":"x"})', { is: 'all', of: [noVersion, rIs('x')] }],
    ['(r = {"S":"x"} OR r = {"S":"y"})', { is: 'any', of: [rIs('x'), rIs('y')] }],
    [
      '(attribute_not_exists(pk) OR (attribute_not_exists(v) AND attribute_not_exists(n) AND i < {"S":"x"}))',
      {
        is: 'any',
        of: [
          { is: 'absent' },
          {
            is: 'all',
            of: [noVersion, { is: 'missing', attribute: 'n' }, { is: 'less', attribute: 'i', value: 'x' }],
          },
        ],
      },
    ],
    ['(attribute_exists(pk) OR attribute_not_exists(pk))', { is: 'all', of: [] }],
    ['(attribute_exists(pk) AND attribute_not_exists(pk))', { is: 'any', of: [] }],
  ])('writes %s', (expression, expectation) => {
    expect(written(expectation)).toBe(expression);
  });

  it('never doubles parentheses, which DynamoDB refuses', () => {
    expect(written({ is: 'all', of: [{ is: 'any', of: [{ is: 'all', of: [rIs('x'), noVersion] }] }] })).toBe(
      '(r = {"S":"x"} AND attribute_not_exists(v))',
    );
  });

  it('takes one placeholder for each attribute and value, and no map of values without values', () => {
    expect(conditionParameters({ is: 'any', of: [rIs('x'), rIs('x'), noVersion] })).toEqual({
      ConditionExpression: '(#n0 = :v0 OR #n0 = :v0 OR attribute_not_exists(#n1))',
      ExpressionAttributeNames: { '#n0': 'r', '#n1': 'v' },
      ExpressionAttributeValues: { ':v0': { S: 'x' } },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    expect(conditionParameters(noVersion)).not.toHaveProperty('ExpressionAttributeValues');
  });

  it('keeps a number and its digits apart', () => {
    const expectation: Expectation = { is: 'all', of: [rIs('1'), { is: 'equal', attribute: 'r', value: 1 }] };
    expect(written(expectation)).toBe('(r = {"S":"1"} AND r = {"N":"1"})');
  });
});
