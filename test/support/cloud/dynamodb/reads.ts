import { checkPlaceholders, holds, parse, type Expression, type Substitutes } from './expressions.ts';
import { allowOnly, invalid } from './failures.ts';
import { lowerBound, upperBound, type Entry, type Table } from './table.ts';
import { givenKey, keyOf, type StoredItem } from './values.ts';

/**
 * A page ends with the item that exceeds it: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html
 */
const pageBytes = 1024 * 1024;

interface PageInput extends Substitutes {
  readonly FilterExpression?: string;
  readonly Limit?: number;
  readonly ExclusiveStartKey?: StoredItem;
}

interface QueryInput extends PageInput {
  readonly KeyConditionExpression?: string;
  readonly ScanIndexForward?: boolean;
}

/** The parameters that queries and scans have in common. */
const pageParameters = [
  'TableName',
  'ConsistentRead',
  'FilterExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'Limit',
  'ExclusiveStartKey',
] as const;

/** Answers Query. */
export function query(table: Table, input: QueryInput): object {
  allowOnly(input, [...pageParameters, 'KeyConditionExpression', 'ScanIndexForward']);
  if (input.KeyConditionExpression === undefined)
    throw invalid('Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.');
  const filter = input.FilterExpression === undefined ? undefined : parse(input.FilterExpression);
  const condition = parse(input.KeyConditionExpression);
  checkPlaceholders([condition, ...(filter ? [filter] : [])], input);
  const { pk, sort } = keyCondition(condition, input);
  const entries = table.partition(pk);
  const [low, high] = boundsOf(sort, input);
  const from = low === undefined ? 0 : lowerBound(entries, low);
  const to = high === undefined ? entries.length : upperBound(entries, high);
  let found = entries.slice(from, to).filter(({ item }) => sort === undefined || holds(sort, item, input));
  const isReverse = input.ScanIndexForward === false;
  if (input.ExclusiveStartKey) found = beyond(found, input.ExclusiveStartKey, { pk, sort, isReverse }, input);
  return page(isReverse ? found.toReversed() : found, filter, input);
}

/** Answers Scan. */
export function scan(table: Table, input: PageInput): object {
  allowOnly(input, pageParameters);
  const filter = input.FilterExpression === undefined ? undefined : parse(input.FilterExpression);
  if (filter) checkPlaceholders([filter], input);
  return page(table.after(input.ExclusiveStartKey), filter, input);
}

/** Answers GetItem. */
export function getItem(table: Table, input: { readonly Key: StoredItem }): object {
  allowOnly(input, ['TableName', 'Key', 'ConsistentRead']);
  const Item = table.seen(input.Key);
  return Item ? { Item } : {};
}

/**
 * Reads until a page is full. With a limit, LastEvaluatedKey is returned even if nothing follows: "it does not necessarily mean that there
 * is more data in the result set".
 */
function page(entries: Iterable<Entry>, filter: Expression | undefined, input: PageInput): object {
  if (input.Limit !== undefined && input.Limit < 1)
    throw invalid('1 validation error detected: the limit must be at least 1');
  const Items: StoredItem[] = [];
  let [ScannedCount, bytes] = [0, 0];
  let LastEvaluatedKey: StoredItem | undefined;
  for (const { item, size } of entries) {
    ScannedCount += 1;
    bytes += size;
    if (filter === undefined || holds(filter, item, input)) Items.push(item);
    if (ScannedCount === input.Limit || bytes > pageBytes) {
      LastEvaluatedKey = { pk: item['pk']!, sk: item['sk']! };
      break;
    }
  }
  return { Items, Count: Items.length, ScannedCount, ...(LastEvaluatedKey && { LastEvaluatedKey }) };
}

/** Splits a key condition into the partition key and the condition on sort keys. */
function keyCondition(
  condition: Expression,
  given: Substitutes,
): { readonly pk: string; readonly sort: Expression | undefined } {
  const [first, second] = condition.is === 'and' ? condition.of : [condition];
  const names = given.ExpressionAttributeNames ?? {};
  if (first.is !== '=' || names[first.of[0]] !== 'pk') throw invalid('Query condition missed key schema element: pk');
  const ofSortKeys = ['=', '<', '<=', '>', '>=', 'between', 'begins_with'];
  if (second && (!ofSortKeys.includes(second.is) || names[String((second.of as readonly unknown[])[0])] !== 'sk'))
    throw invalid('Invalid operator used in KeyConditionExpression, or it is not about the sort key');
  return { pk: String(given.ExpressionAttributeValues![first.of[1]]!['S']), sort: second };
}

/** Returns sort keys between which all that a condition means lie: it is asked about each of them as well. */
function boundsOf(
  sort: Expression | undefined,
  given: Substitutes,
): readonly [low: Buffer | undefined, high: Buffer | undefined] {
  const valueOf = (operand: string | undefined): Buffer =>
    Buffer.from(String(given.ExpressionAttributeValues![operand!]!['S']));
  switch (sort?.is) {
    case '=':
      return [valueOf(sort.of[1]), valueOf(sort.of[1])];
    case 'between': {
      const [low, high] = [valueOf(sort.of[1]), valueOf(sort.of[2])];
      if (Buffer.compare(low, high) > 0)
        throw invalid('The BETWEEN operator requires upper bound to be greater than or equal to lower bound');
      return [low, high];
    }
    case '>':
    case '>=':
    case 'begins_with':
      return [valueOf(sort.of[1]), undefined];
    case '<':
    case '<=':
      return [undefined, valueOf(sort.of[1])];
    default:
      return [undefined, undefined];
  }
}

/** Returns the entries after a start key, or before it. @throws Refusal if the key cannot be one of the query's */
function beyond(
  found: readonly Entry[],
  start: StoredItem,
  { pk, sort, isReverse }: { readonly pk: string; readonly sort: Expression | undefined; readonly isReverse: boolean },
  given: Substitutes,
): Entry[] {
  if (givenKey(start).pk !== pk)
    throw invalid('The provided starting key is outside query boundaries based on provided conditions');
  if (sort && !holds(sort, start, given))
    throw invalid('The provided starting key does not match the range key predicate');
  const sk = Buffer.from(keyOf(start).sk);
  return isReverse ? found.slice(0, lowerBound(found, sk)) : found.slice(upperBound(found, sk));
}
