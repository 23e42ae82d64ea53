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
  type WriteOptions,
  type WriteOutcome,
} from '../../../ports/key-value-table.ts';
import type { Telemetry } from '../../../ports/telemetry.ts';
import { Attempts, type RetryPolicy } from '../attempts.ts';
import { marshalItem, marshalKey, type StoredItem, unmarshalIfAny, unmarshalItem } from './attribute-values.ts';
import { callFailure } from '../call-failure.ts';
import { conditionParameters } from './expectation-expression.ts';
import { type SortKeyRange, sortKeyRange } from './sort-key-range.ts';
import { failedExpectations, mergeConditions, type Operations, transactItems } from './transaction.ts';

export interface DynamoDbTableOptions {
  /** A table with the string keys `pk` (partition) and `sk` (sort). */
  readonly tableName: string;
  /** SDK client settings: region, endpoint, credentials. Omitted settings come from the environment. */
  readonly client?: Omit<DynamoDBClientConfig, 'maxAttempts' | 'retryMode' | 'retryStrategy'>;
  /** The time-out of a call in milliseconds. Default: 2,000. Longer ones, for an engine slower than DynamoDB, also hold at the end of {@link WriteOptions.within}. */
  readonly callTimeout?: number | undefined;
  readonly retries?: RetryPolicy;
  /** Receives reports of writes whose response was lost. */
  readonly telemetry?: Telemetry;
}

const defaultRetries: RetryPolicy = { attempts: 7, pause: 25, patience: 4000 };

/**
 * DynamoDB normally responds within milliseconds, and a hung connection must not delay a request. Waiting for a free
 * socket counts towards the time-out, so there are plenty. The other end may have closed an idle connection, and a
 * conditional write sent into it ends as unknown, so idle connections are closed here first.
 */
const defaultRequestHandler = {
  connectionTimeout: 1000,
  requestTimeout: 2000,
  throwOnRequestTimeout: true,
  httpsAgent: { maxSockets: 500, timeout: 15_000 },
};

/** The time-out of a call that differs from the client's, in milliseconds. */
interface CallTimeout {
  readonly requestTimeout?: number;
}

/**
 * The table port on DynamoDB.
 *
 * Creates its own client because the SDK's retries must be disabled: if a conditional write is applied but its response
 * is lost, a retry by the SDK would fail the write's own condition and report a conflict to the caller who won. This
 * class decides about retries instead.
 */
export class DynamoDbTable implements KeyValueTable {
  readonly freeChecks = false;
  readonly #client: DynamoDBClient;
  readonly #tableName: string;
  /** The time-out of a call in milliseconds; undefined: that of the client, which suits another engine. */
  readonly #callTimeout: number | undefined;
  readonly #retries: RetryPolicy;
  readonly #telemetry: Telemetry | undefined;

  constructor({ tableName, client, callTimeout, retries = defaultRetries, telemetry }: DynamoDbTableOptions) {
    const timeouts = callTimeout && { connectionTimeout: callTimeout, requestTimeout: callTimeout };
    const requestHandler = { ...defaultRequestHandler, ...timeouts };
    this.#client = new DynamoDBClient({ requestHandler, ...client, maxAttempts: 1 });
    this.#tableName = tableName;
    const { requestTimeout } = defaultRequestHandler;
    const isSlow = client?.requestHandler !== undefined || (callTimeout ?? 0) > requestTimeout;
    this.#callTimeout = isSlow ? undefined : (callTimeout ?? requestTimeout);
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
      // An empty page with `more` would leave the caller no key to continue from.
      if (items.length > 0 || !more) return { items, more };
      start = page.LastEvaluatedKey?.['sk']?.S;
    }
  }

  /** Scans the table. DynamoDB omits items with other prefixes, but reads them all the same. */
  async *scan({ prefixes }: ScanOptions = {}): AsyncIterable<Item> {
    const filter = prefixes === undefined ? {} : prefixFilter(prefixes);
    let next: Promise<ScanCommandOutput> | undefined = this.#scanPage(filter, undefined);
    while (next !== undefined) {
      const { Items = [], LastEvaluatedKey }: ScanCommandOutput = await next;
      next = LastEvaluatedKey && this.#scanPage(filter, LastEvaluatedKey);
      next?.catch(() => undefined); // reported when awaited
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

  async write(
    changes: readonly Change[],
    conditions: readonly Condition[] = [],
    { within }: WriteOptions = {},
  ): Promise<WriteOutcome> {
    const operations = mergeConditions(changes, conditions);
    const [only, ...others] = operations.changes;
    const isSingle = only !== undefined && others.length === 0 && operations.checks.length === 0;
    return isSingle ? this.#writeOne(only, within) : this.#writeTogether(operations, within);
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  #queryCommand(
    pk: string,
    { low, high }: SortKeyRange,
    start: string | undefined,
    { limit, reverse, mayBeStale = false }: QueryOptions,
  ) {
    const names = { '#pk': 'pk', ...(low === undefined && high === undefined ? {} : { '#sk': 'sk' }) };
    const values = {
      ':pk': { S: pk },
      ...(low === undefined ? {} : { ':low': { S: low } }),
      ...(high === undefined ? {} : { ':high': { S: high } }),
    };
    return new QueryCommand({
      TableName: this.#tableName,
      ConsistentRead: !mayBeStale,
      KeyConditionExpression: `#pk = :pk${sortKeyCondition(low, high)}`,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
      ScanIndexForward: reverse !== true,
      ...(limit === undefined ? {} : { Limit: limit }),
      ...(start === undefined ? {} : { ExclusiveStartKey: marshalKey({ pk, sk: start }) }),
    });
  }

  async #writeOne(change: Change, within: number | undefined): Promise<WriteOutcome> {
    const send = this.#singleWrite(change);
    // Without an expectation, a repetition cannot fail because of the first attempt.
    const repeatable = change.expect === undefined;
    return this.#submit([change], { repeatable, within }, async ({ timeout }) => {
      try {
        const { Attributes } = await send(timeout);
        return { outcome: 'written', old: [unmarshalIfAny(Attributes)] };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        return { outcome: 'conflict', failed: [{ key: change.key, item: unmarshalIfAny(error.Item) }] };
      }
    });
  }

  #singleWrite(change: Change): (timeout: CallTimeout) => Promise<{ Attributes?: StoredItem | undefined }> {
    const condition = change.expect === undefined ? {} : conditionParameters(change.expect);
    const options = { TableName: this.#tableName, ReturnValues: 'ALL_OLD', ...condition } as const;
    if ('put' in change) {
      const command = new PutItemCommand({ ...options, Item: marshalItem(change.key, change.put) });
      return (timeout) => this.#client.send(command, timeout);
    }
    const command = new DeleteItemCommand({ ...options, Key: marshalKey(change.key) });
    return (timeout) => this.#client.send(command, timeout);
  }

  async #writeTogether(operations: Operations, within: number | undefined): Promise<WriteOutcome> {
    const TransactItems = transactItems(this.#tableName, operations);
    return this.#submit(operations.changes, { repeatable: true, within }, async ({ token, timeout }) => {
      try {
        const command = new TransactWriteItemsCommand({ TransactItems, ClientRequestToken: token });
        await this.#client.send(command, timeout);
        return { outcome: 'written', old: [] };
      } catch (error) {
        if (!(error instanceof TransactionCanceledException)) throw error;
        const failed = failedExpectations(operations, error.CancellationReasons);
        if (failed.length === 0) throw error;
        return { outcome: 'conflict', failed };
      }
    });
  }

  /** Sends a read until it succeeds. */
  async #read<Answer>(send: () => Promise<Answer>): Promise<Answer> {
    for (const attempts = new Attempts(this.#retries); ;) {
      try {
        return await send();
      } catch (error) {
        if (callFailure(error) === 'final') throw error;
        if (!(await attempts.next())) throw new TableBusy({ cause: error });
      }
    }
  }

  /**
   * Sends a write until its outcome is known, or known to be unknowable.
   * @param of.repeatable whether a write may be sent again after its response was lost
   * @param of.within the milliseconds after which no attempt is under way any more
   */
  async #submit(
    changes: readonly Change[],
    { repeatable, within }: { readonly repeatable: boolean; readonly within: number | undefined },
    send: (attempt: { readonly token: string; readonly timeout: CallTimeout }) => Promise<WriteOutcome>,
  ): Promise<WriteOutcome> {
    let token = randomUUID();
    let lost = false;
    for (const attempts = new Attempts(this.#retries, within); ;) {
      try {
        const result = await send({ token, timeout: within === undefined ? {} : this.#timeoutWithin(attempts.left) });
        if (!lost) return result;
        // The replaced item, or the conflicting one, may be this write's own: from a lost attempt that arrived late.
        return result.outcome === 'written' ? { outcome: 'written', old: [] } : await this.#lookBack(changes);
      } catch (error) {
        const failure = callFailure(error);
        if (failure === 'lost') {
          lost = true;
          this.#telemetry?.problem('no response from the table to a write', error, { attempt: attempts.made });
        }
        const goesOn = failure !== 'final' && (!lost || repeatable) && (await attempts.next());
        if (lost && !goesOn) return this.#lookBack(changes);
        if (failure === 'final') throw error;
        if (!goesOn) throw new TableBusy({ cause: error });
        // A cancelled transaction may be remembered under its token. But while an attempt may still arrive, the token
        // must stay the same, because it prevents the transaction from being applied twice.
        if (!lost) token = randomUUID();
      }
    }
  }

  #timeoutWithin(left: number): CallTimeout {
    return this.#callTimeout === undefined ? {} : { requestTimeout: Math.min(this.#callTimeout, left) };
  }

  /**
   * Determines the outcome of a write whose response was lost: it happened if one of its write tokens is found, since
   * no other write has them. Nothing else is proof: a missing or similar item may be the work of another write, and a
   * lost write may still arrive.
   */
  async #lookBack(changes: readonly Change[]): Promise<WriteOutcome> {
    try {
      for (const change of changes) {
        if (!('put' in change) || change.put['r'] === undefined) continue;
        const found = await this.get(change.key);
        if (found?.['r'] === change.put['r']) return { outcome: 'written', old: [] };
      }
    } catch (error) {
      this.#telemetry?.problem('no response from the table to the question whether a write happened', error);
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
