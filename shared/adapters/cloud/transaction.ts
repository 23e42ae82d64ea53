import type { CancellationReason, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { Attributes, Change, Condition, ItemKey } from '../../ports/key-value-table.ts';
import { marshalItem, marshalKey, unmarshalIfAny } from './attribute-values.ts';
import { conditionParameters } from './expectation-expression.ts';

/** Changes, and conditions of items that none of them changes. */
export interface Operations {
  readonly changes: readonly Change[];
  readonly checks: readonly Condition[];
}

/**
 * DynamoDB refuses two operations on one item: a condition of a changed item becomes part of its change.
 * @throws TypeError if there is nothing to do, or one item is named twice
 */
export function mergeConditions(changes: readonly Change[], conditions: readonly Condition[]): Operations {
  if (changes.length + conditions.length === 0) throw new TypeError('a write of nothing');
  const checks = byItem(conditions);
  byItem(changes);
  const merged = changes.map((change) => {
    const condition = checks.get(identity(change.key));
    if (condition === undefined) return change;
    checks.delete(identity(change.key));
    const of = change.expect === undefined ? [condition.expect] : [change.expect, condition.expect];
    return { ...change, expect: { is: 'all', of } as const };
  });
  return { changes: merged, checks: [...checks.values()] };
}

/** The operations of a transaction: the changes in order, then the checks. */
export function transactItems(tableName: string, { changes, checks }: Operations): TransactWriteItem[] {
  const TableName = tableName;
  return [
    ...changes.map((change): TransactWriteItem => {
      const condition = change.expect === undefined ? {} : conditionParameters(change.expect);
      return 'put' in change
        ? { Put: { TableName, Item: marshalItem(change.key, change.put), ...condition } }
        : { Delete: { TableName, Key: marshalKey(change.key), ...condition } };
    }),
    ...checks.map(({ key, expect }) => ({
      ConditionCheck: { TableName, Key: marshalKey(key), ...conditionParameters(expect) },
    })),
  ];
}

/** The items whose expectation failed; the reasons of a cancelled transaction stand in the order of its operations. */
export function failedExpectations(
  { changes, checks }: Operations,
  reasons: readonly CancellationReason[] = [],
): { key: ItemKey; item: Attributes | undefined }[] {
  return [...changes, ...checks].flatMap(({ key }, position) => {
    const reason = reasons[position];
    return reason?.Code === 'ConditionalCheckFailed' ? [{ key, item: unmarshalIfAny(reason.Item) }] : [];
  });
}

/** @throws TypeError if two name the same item */
function byItem<T extends { readonly key: ItemKey }>(operations: readonly T[]): Map<string, T> {
  const map = new Map(operations.map((operation) => [identity(operation.key), operation]));
  if (map.size < operations.length) throw new TypeError('two changes or two conditions of one item');
  return map;
}

function identity({ pk, sk }: ItemKey): string {
  return JSON.stringify([pk, sk]);
}
