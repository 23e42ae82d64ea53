import { checkPlaceholders, holds, parse, type Substitutes } from './expressions.ts';
import { allowOnly, invalid, Refusal } from './failures.ts';
import type { Table } from './table.ts';
import { givenKey, keyOf, measured, type StoredItem } from './values.ts';

interface Condition extends Substitutes {
  readonly TableName: string;
  readonly ConditionExpression?: string;
  readonly ReturnValuesOnConditionCheckFailure?: 'ALL_OLD' | 'NONE';
}

interface Put extends Condition {
  readonly Item: StoredItem;
}

interface Keyed extends Condition {
  readonly Key: StoredItem;
}

/** A write of one item, or the question whether one could be written. */
interface Operation {
  readonly of: Put | Keyed;
  readonly table: Table;
  readonly key: { readonly pk: string; readonly sk: string };
  /** The item that is there. */
  readonly old: StoredItem | undefined;
  readonly apply: () => void;
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html */
const transactionItems = 100;
const transactionBytes = 4 * 1024 * 1024;
/** A token is remembered for so long, in milliseconds. */
const tokenLifetime = 10 * 60 * 1000;

const conditionParameters = [
  'TableName',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ReturnValuesOnConditionCheckFailure',
];

/** Answers PutItem. */
export function putItem(table: Table, input: Put & { readonly ReturnValues?: string }): object {
  allowOnly(input, [...conditionParameters, 'Item', 'ReturnValues']);
  return writeOne(put(table, input), input.ReturnValues);
}

/** Answers DeleteItem. */
export function deleteItem(table: Table, input: Keyed & { readonly ReturnValues?: string }): object {
  allowOnly(input, [...conditionParameters, 'Key', 'ReturnValues']);
  return writeOne(remove(table, input), input.ReturnValues);
}

function put(table: Table, of: Put): Operation {
  const key = keyOf(of.Item);
  measured(of.Item);
  return { of, table, key, old: table.former(of.Item), apply: () => table.put(of.Item) };
}

function remove(table: Table, of: Keyed): Operation {
  return { of, table, key: givenKey(of.Key), old: table.get(of.Key), apply: () => table.delete(of.Key) };
}

function check(table: Table, of: Keyed): Operation {
  if (of.ConditionExpression === undefined) throw invalid('The conditionExpression must not be null');
  return { of, table, key: givenKey(of.Key), old: table.get(of.Key), apply: () => undefined };
}

function writeOne(operation: Operation, returned = 'NONE'): object {
  const { of, old } = operation;
  if (!isMet(operation)) {
    const item = of.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && old ? { Item: old } : {};
    throw new Refusal('ConditionalCheckFailedException', 'The conditional request failed', item);
  }
  operation.apply();
  return returned === 'ALL_OLD' && old ? { Attributes: old } : {};
}

/** Whether the condition of a write is met; without a condition, true. */
function isMet({ of, old }: Operation): boolean {
  const condition = of.ConditionExpression === undefined ? undefined : parse(of.ConditionExpression);
  checkPlaceholders(condition ? [condition] : [], of);
  return condition === undefined || holds(condition, old, of);
}

type TransactItem = { readonly Put?: Put; readonly Delete?: Keyed; readonly ConditionCheck?: Keyed };

interface TransactWriteInput {
  readonly TransactItems: readonly TransactItem[];
  readonly ClientRequestToken?: string;
}

/** Transactions: all or nothing. One that was carried out is not again under the same token. */
export class Transactions {
  readonly #find: (tableName: string) => Table;
  readonly #done = new Map<string, { readonly at: number; readonly items: string }>();

  /** @param find returns the table of this name */
  constructor(find: (tableName: string) => Table) {
    this.#find = find;
  }

  /** Answers TransactGetItems. */
  get(input: { readonly TransactItems: readonly { readonly Get: Keyed }[] }): object {
    allowOnly(input, ['TransactItems']);
    const keys = input.TransactItems.map(({ Get }) => {
      allowOnly(Get, ['TableName', 'Key']);
      return { table: this.#find(Get.TableName), key: givenKey(Get.Key), Key: Get.Key };
    });
    checkItems(keys);
    const Responses = keys.map(({ table, Key }) => table.get(Key)).map((Item) => (Item ? { Item } : {}));
    return { Responses };
  }

  /**
   * Executes TransactWriteItems.
   * @param hides whether plain reads keep returning the old image of an item until it is shown
   */
  write(input: TransactWriteInput, hides: () => boolean = () => false): object {
    allowOnly(input, ['TransactItems', 'ClientRequestToken']);
    const operations = input.TransactItems.map((item) => this.#operation(item));
    checkItems(operations);
    const bytes = operations.reduce((sum, { of }) => sum + ('Item' in of ? measured(of.Item) : 0), 0);
    if (bytes > transactionBytes) throw invalid('Collection size cannot exceed 4 MB in a transaction');
    if (input.ClientRequestToken !== undefined && this.#wasDone(input.ClientRequestToken, input.TransactItems))
      return {};
    const reasons = operations.map((operation) => {
      if (isMet(operation)) return { Code: 'None' };
      const { of, old } = operation;
      const item = of.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && old ? { Item: old } : {};
      return { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed', ...item };
    });
    if (reasons.some(({ Code }) => Code !== 'None')) throw cancelled(reasons);
    for (const { apply, table, key, old } of operations) {
      apply();
      if (hides()) table.hide(key, old);
    }
    if (input.ClientRequestToken !== undefined) this.#remember(input.ClientRequestToken, input.TransactItems);
    return {};
  }

  /** Shows the items of a transaction that has ended. */
  show({ TransactItems }: TransactWriteInput): void {
    for (const { table, key } of TransactItems.map((item) => this.#operation(item))) table.show(key);
  }

  #operation(item: TransactItem): Operation {
    allowOnly(item, ['Put', 'Delete', 'ConditionCheck']);
    const { Put, Delete, ConditionCheck } = item;
    if (Put) {
      allowOnly(Put, [...conditionParameters, 'Item']);
      return put(this.#find(Put.TableName), Put);
    }
    const keyed = Delete ?? ConditionCheck;
    if (keyed === undefined) throw invalid('TransactItems can only contain one of Check, Put, Update or Delete');
    allowOnly(keyed, [...conditionParameters, 'Key']);
    return (Delete ? remove : check)(this.#find(keyed.TableName), keyed);
  }

  #wasDone(token: string, items: readonly TransactItem[]): boolean {
    const before = this.#done.get(token);
    if (before === undefined || Date.now() - before.at > tokenLifetime) return false;
    if (before.items === JSON.stringify(items)) return true;
    throw new Refusal(
      'IdempotentParameterMismatchException',
      'DynamoDB rejected the request because you retried a request with a different payload but with an idempotent token that was already used.',
    );
  }

  #remember(token: string, items: readonly TransactItem[]): void {
    const now = Date.now();
    for (const [old, { at }] of this.#done) {
      if (now - at <= tokenLifetime) break;
      this.#done.delete(old);
    }
    this.#done.set(token, { at: now, items: JSON.stringify(items) });
  }
}

function checkItems(
  items: readonly { readonly table: Table; readonly key: { readonly pk: string; readonly sk: string } }[],
): void {
  if (items.length === 0 || items.length > transactionItems)
    throw invalid(
      "1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100",
    );
  const named = new Set(items.map(({ table, key }) => JSON.stringify([table.name, key.pk, key.sk])));
  if (named.size < items.length) throw invalid('Transaction request cannot include multiple operations on one item');
}

function cancelled(CancellationReasons: readonly { readonly Code: string }[]): Refusal {
  const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return new Refusal('TransactionCanceledException', message, { CancellationReasons });
}
