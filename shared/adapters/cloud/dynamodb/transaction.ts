import type { CancellationReason, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { Attributes, Change, Condition, ItemKey } from '../../../ports/key-value-table.ts';
import { marshalItem, marshalKey, unmarshalIfAny } from './attribute-values.ts';
import { conditionParameters } from './expectation-expression.ts';

/** Changes, and conditions on items that they do not change. */
export interface Operations {
  readonly changes: readonly Change[];
  readonly checks: readonly Condition[];
}

/**
 * Merges conditions on changed items into their changes, since DynamoDB rejects two operations on one item.
 * @throws TypeError if there is no operation, or an item is named twice
 */
export function mergeConditions(changes: readonly Change[], conditions: readonly Condition[]): Operations {
  if (changes.length + conditions.length === 0) throw new TypeError('a write needs at least one change or condition');
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

/** Returns the operations of a transaction: the changes in order, then the checks. */
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

/**
 * Returns the items whose expectation failed. The cancellation reasons of a transaction are in the order of its
 * operations.
 */
export function failedExpectations(
  { changes, checks }: Operations,
  reasons: readonly CancellationReason[] = [],
): { key: ItemKey; item: Attributes | undefined }[] {
  return [...changes, ...checks].flatMap(({ key }, position) => {
    const reason = reasons[position];
    return reason?.Code === 'ConditionalCheckFailed' ? [{ key, item: unmarshalIfAny(reason.Item) }] : [];
  });
}

/** Indexes operations by item. @throws TypeError if two name the same item */
function byItem<T extends { readonly key: ItemKey }>(operations: readonly T[]): Map<string, T> {
  const map = new Map(operations.map((operation) => [identity(operation.key), operation]));
  if (map.size < operations.length) throw new TypeError('two changes or two conditions name the same item');
  return map;
}

function identity({ pk, sk }: ItemKey): string {
  return JSON.stringify([pk, sk]);
}
