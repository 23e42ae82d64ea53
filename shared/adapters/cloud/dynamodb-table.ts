import { randomUUID } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  type ScanCommandInput,
  type ScanCommandOutput,
  TransactGetItemsCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import {
  type Attributes,
  type Change,
  type Condition,
  type Item,
  type ItemKey,
  type KeyValueTable,
  type QueryOptions,
  type QueryPage,
  type ScanOptions,
  TableBusy,
  type WriteOutcome,
} from '../../ports/key-value-table.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import { Attempts, type RetryPolicy } from './attempts.ts';
import { marshalItem, marshalKey, type StoredItem, unmarshalIfAny, unmarshalItem } from './attribute-values.ts';
import { callFailure } from './call-failure.ts';
import { conditionParameters } from './expectation-expression.ts';
import { type SortKeyRange, sortKeyRange } from './sort-key-range.ts';
import { failedExpectations, mergeConditions, type Operations, transactItems } from './transaction.ts';

export interface DynamoDbTableOptions {
  /** A table with the string keys `pk` (partition) and `sk` (sort). */
  readonly tableName: string;
  /** Settings of the SDK's client: region, endpoint, credentials. What is left out comes from the environment. */
  readonly client?: Omit<DynamoDBClientConfig, 'maxAttempts' | 'retryMode' | 'retryStrategy'>;
  /** How many milliseconds a call may take. Two seconds, if not said. */
  readonly callTimeout?: number | undefined;
  readonly retries?: RetryPolicy;
  /** Hears of writes whose answer was lost. */
  readonly telemetry?: Telemetry;
}

const defaultRetries: RetryPolicy = { attempts: 7, pause: 25, patience: 4000 };

/**
 * DynamoDB answers within milliseconds or something is wrong, and a hung connection must not hold a request up. Waiting
 * for a free socket counts towards the time-out, so there are plenty. One that lay idle may have been closed at the other
 * end, and a conditional write sent into it ends as unknown: it is closed here first.
 */
const defaultRequestHandler = {
  connectionTimeout: 1000,
  requestTimeout: 2000,
  throwOnRequestTimeout: true,
  httpsAgent: { maxSockets: 500, timeout: 15_000 },
};

/**
 * The table port over DynamoDB.
 *
 * It makes its own client because the SDK's retries must be off: a conditional write that was applied, lost its answer and
 * is sent again by the SDK fails its own condition, and the caller who won would be told of a conflict. Whether to send
 * again is decided here.
 */
export class DynamoDbTable implements KeyValueTable {
  readonly freeChecks = false;
  readonly #client: DynamoDBClient;
  readonly #tableName: string;
  readonly #retries: RetryPolicy;
  readonly #telemetry: Telemetry | undefined;

  constructor({ tableName, client, callTimeout, retries = defaultRetries, telemetry }: DynamoDbTableOptions) {
    const timeouts = callTimeout && { connectionTimeout: callTimeout, requestTimeout: callTimeout };
    const requestHandler = { ...defaultRequestHandler, ...timeouts };
    this.#client = new DynamoDBClient({ requestHandler, ...client, maxAttempts: 1 });
    this.#tableName = tableName;
    this.#retries = retries;
    this.#telemetry = telemetry;
  }

  async get(key: ItemKey): Promise<Attributes | undefined> {
    const command = new GetItemCommand({ TableName: this.#tableName, Key: marshalKey(key), ConsistentRead: true });
    const { Item } = await this.#read(() => this.#client.send(command));
    return unmarshalIfAny(Item);
  }

  async getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    if (keys.length === 0) return [];
    const TransactItems = keys.map((key) => ({ Get: { TableName: this.#tableName, Key: marshalKey(key) } }));
    const command = new TransactGetItemsCommand({ TransactItems });
    const { Responses = [] } = await this.#read(() => this.#client.send(command));
    return keys.map((_, position) => unmarshalIfAny(Responses[position]?.Item));
  }

  async query(pk: string, options: QueryOptions = {}): Promise<QueryPage> {
    const range = sortKeyRange(options);
    if (range === undefined) return { items: [], more: false };
    for (let start = range.start; ;) {
      const command = this.#queryCommand(pk, range, start, options);
      const page = await this.#read(() => this.#client.send(command));
      const items = (page.Items ?? []).map(unmarshalItem).filter((item) => range.contains(item.key.sk));
      const more = page.LastEvaluatedKey !== undefined;
      // An empty page with more behind it would leave the caller no place to go on from.
      if (items.length > 0 || !more) return { items, more };
      start = page.LastEvaluatedKey?.['sk']?.S;
    }
  }

  /** DynamoDB leaves out what has another prefix, but reads it all the same. */
  async *scan({ prefixes }: ScanOptions = {}): AsyncIterable<Item> {
    const filter = prefixes === undefined ? {} : prefixFilter(prefixes);
    let next: Promise<ScanCommandOutput> | undefined = this.#scanPage(filter, undefined);
    while (next !== undefined) {
      const { Items = [], LastEvaluatedKey }: ScanCommandOutput = await next;
      next = LastEvaluatedKey && this.#scanPage(filter, LastEvaluatedKey);
      next?.catch(() => undefined); // told when it is awaited
      yield* Items.map(unmarshalItem);
    }
  }

  #scanPage(filter: Partial<ScanCommandInput>, start: StoredItem | undefined): Promise<ScanCommandOutput> {
    const command = new ScanCommand({
      TableName: this.#tableName,
      ConsistentRead: true,
      ...filter,
      ...(start && { ExclusiveStartKey: start }),
    });
    return this.#read(() => this.#client.send(command));
  }

  async write(changes: readonly Change[], conditions: readonly Condition[] = []): Promise<WriteOutcome> {
    const operations = mergeConditions(changes, conditions);
    const [only, ...others] = operations.changes;
    if (only !== undefined && others.length === 0 && operations.checks.length === 0) return this.#writeOne(only);
    return this.#writeTogether(operations);
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  #queryCommand(pk: string, { low, high }: SortKeyRange, start: string | undefined, { limit, reverse }: QueryOptions) {
    const names = { '#pk': 'pk', ...(low === undefined && high === undefined ? {} : { '#sk': 'sk' }) };
    const values = {
      ':pk': { S: pk },
      ...(low === undefined ? {} : { ':low': { S: low } }),
      ...(high === undefined ? {} : { ':high': { S: high } }),
    };
    return new QueryCommand({
      TableName: this.#tableName,
      ConsistentRead: true,
      KeyConditionExpression: `#pk = :pk${sortKeyCondition(low, high)}`,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
      ScanIndexForward: reverse !== true,
      ...(limit === undefined ? {} : { Limit: limit }),
      ...(start === undefined ? {} : { ExclusiveStartKey: marshalKey({ pk, sk: start }) }),
    });
  }

  async #writeOne(change: Change): Promise<WriteOutcome> {
    const send = this.#singleWrite(change);
    // Without an expectation there is none that a repetition could find failed by the first try.
    const repeatable = change.expect === undefined;
    return this.#submit([change], repeatable, async () => {
      try {
        const { Attributes } = await send();
        return { outcome: 'written', old: [unmarshalIfAny(Attributes)] };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        return { outcome: 'conflict', failed: [{ key: change.key, item: unmarshalIfAny(error.Item) }] };
      }
    });
  }

  #singleWrite(change: Change): () => Promise<{ Attributes?: StoredItem | undefined }> {
    const condition = change.expect === undefined ? {} : conditionParameters(change.expect);
    const options = { TableName: this.#tableName, ReturnValues: 'ALL_OLD', ...condition } as const;
    if ('put' in change) {
      const command = new PutItemCommand({ ...options, Item: marshalItem(change.key, change.put) });
      return () => this.#client.send(command);
    }
    const command = new DeleteItemCommand({ ...options, Key: marshalKey(change.key) });
    return () => this.#client.send(command);
  }

  async #writeTogether(operations: Operations): Promise<WriteOutcome> {
    const TransactItems = transactItems(this.#tableName, operations);
    return this.#submit(operations.changes, true, async (token) => {
      try {
        await this.#client.send(new TransactWriteItemsCommand({ TransactItems, ClientRequestToken: token }));
        return { outcome: 'written', old: [] };
      } catch (error) {
        if (!(error instanceof TransactionCanceledException)) throw error;
        const failed = failedExpectations(operations, error.CancellationReasons);
        if (failed.length === 0) throw error;
        return { outcome: 'conflict', failed };
      }
    });
  }

  /** Sends a read until it is answered. */
  async #read<Answer>(send: () => Promise<Answer>): Promise<Answer> {
    for (const attempts = new Attempts(this.#retries); ; await attempts.next()) {
      try {
        return await send();
      } catch (error) {
        if (callFailure(error) === 'final') throw error;
        if (attempts.spent) throw new TableBusy({ cause: error });
      }
    }
  }

  /**
   * Sends a write until it is known how it ended, or that this cannot be known.
   * @param repeatable whether a write whose answer was lost may be sent once more
   */
  async #submit(
    changes: readonly Change[],
    repeatable: boolean,
    send: (token: string) => Promise<WriteOutcome>,
  ): Promise<WriteOutcome> {
    let token = randomUUID();
    let lost = false;
    for (const attempts = new Attempts(this.#retries); ; await attempts.next()) {
      try {
        const result = await send(token);
        if (!lost) return result;
        // What was replaced may have been our own, and what is in the way too: a lost attempt that arrived late.
        return result.outcome === 'written' ? { outcome: 'written', old: [] } : await this.#lookBack(changes);
      } catch (error) {
        const failure = callFailure(error);
        if (failure === 'lost') {
          lost = true;
          this.#telemetry?.problem('the table gave no answer to a write', error, { attempt: attempts.made });
        }
        const givenUp = failure === 'final' || attempts.spent;
        if (lost && (givenUp || !repeatable)) return this.#lookBack(changes);
        if (failure === 'final') throw error;
        if (givenUp) throw new TableBusy({ cause: error });
        // A cancelled transaction may be remembered under its token. But while an attempt may still arrive the token stays,
        // since it keeps the transaction from happening twice.
        if (!lost) token = randomUUID();
      }
    }
  }

  /**
   * How a write ended whose answer was lost: it happened if one of its write tokens is found, since no other write has
   * that. Nothing else is proof: what is gone or looks alike may be another's work, what is not there may yet come.
   */
  async #lookBack(changes: readonly Change[]): Promise<WriteOutcome> {
    try {
      for (const change of changes) {
        if (!('put' in change) || change.put['r'] === undefined) continue;
        const found = await this.get(change.key);
        if (found?.['r'] === change.put['r']) return { outcome: 'written', old: [] };
      }
    } catch (error) {
      this.#telemetry?.problem('the table gave no answer to whether a write happened', error);
    }
    return { outcome: 'unknown' };
  }
}

function prefixFilter(prefixes: readonly string[]): Partial<ScanCommandInput> {
  return {
    FilterExpression: prefixes.map((_, at) => `begins_with(#pk, :p${at})`).join(' OR '),
    ExpressionAttributeNames: { '#pk': 'pk' },
    ExpressionAttributeValues: Object.fromEntries(prefixes.map((prefix, at) => [`:p${at}`, { S: prefix }])),
  };
}

function sortKeyCondition(low: string | undefined, high: string | undefined): string {
  if (low !== undefined && high !== undefined) return ' AND #sk BETWEEN :low AND :high';
  if (low !== undefined) return ' AND #sk >= :low';
  return high === undefined ? '' : ' AND #sk <= :high';
}
