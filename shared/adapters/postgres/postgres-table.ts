import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { holds, TableBusy } from '../../ports/key-value-table.ts';
import type {
  Attributes,
  Change,
  ChangeFeed,
  Condition,
  FeedRecord,
  ForeignChanges,
  Item,
  ItemKey,
  KeyValueTable,
  QueryOptions,
  QueryPage,
  ScanOptions,
  WriteOptions,
  WriteOutcome,
} from '../../ports/key-value-table.ts';
import { decodeItem } from '../encoded-table/item-encoding.ts';
import {
  decodeItemKey,
  decodeSortKey,
  encodeItemKey,
  rangeOf,
  rangesOf,
  restOf,
  type KeyRange,
} from '../encoded-table/item-key.ts';
import { stepsOf, type Step } from '../encoded-table/write-steps.ts';
import { committed } from './commits.ts';
import { Connections, type ConnectionOptions } from './connections.ts';
import { isBusy, isConnectionLost } from './failures.ts';
import { FeedHorizon } from './feed-horizon.ts';
import { FeedSignal } from './feed-signal.ts';
import { migrate } from './schema.ts';

export interface PostgresTableOptions extends ConnectionOptions {
  /** Tells whether the change feed includes an item. Default: every item. */
  readonly isFollowed?: (key: ItemKey) => boolean;
  /** Tells whether processes remember an item, so that the others are told of its changes. Default: none. */
  readonly isRemembered?: (key: ItemKey) => boolean;
}

/** The maximum number of items in a page: those of a listing, and the one by which it knows that there are more. */
const maxItemsOfPage = 1001;
const maxBytesOfPage = 1024 * 1024;
/** The milliseconds that a write tries for, unless it is given fewer. */
const writeTime = 10_000;
/** The milliseconds for which the outcome of a commit without an answer is asked for. */
const settleTime = 10_000;
/** The number of records removed in one transaction. */
const trimStep = 1000;

/** A row of the table: `\x` and hexadecimal digits, which `pg` decodes. */
interface Row {
  readonly k: Buffer;
  readonly v: Buffer;
}

/**
 * The table in PostgreSQL, for any number of processes on any number of machines: schema.ts. A write takes two round trips: one that locks
 * and reads the items, one that changes them and commits; of a single item without an expectation, one.
 */
export class PostgresTable implements KeyValueTable, ChangeFeed, ForeignChanges {
  readonly freeChecks = true;
  readonly #connections: Connections;
  readonly #horizon: FeedHorizon;
  readonly #signal: FeedSignal;
  readonly #isFollowed: (key: ItemKey) => boolean;
  readonly #isRemembered: (key: ItemKey) => boolean;

  private constructor(
    connections: Connections,
    signal: FeedSignal,
    { isFollowed = () => true, isRemembered = () => false }: Omit<PostgresTableOptions, keyof ConnectionOptions>,
  ) {
    this.#connections = connections;
    this.#horizon = new FeedHorizon(connections);
    this.#signal = signal;
    this.#isFollowed = isFollowed;
    this.#isRemembered = isRemembered;
  }

  /**
   * Opens a table; a schema that is missing is created.
   * @throws Error if a later release has changed the schema; that of `pg` if there is no connection
   */
  static async open(options: PostgresTableOptions): Promise<PostgresTable> {
    const connections = new Connections(options);
    try {
      await connections.alone((client) => migrate(client, options.schema ?? 'stillage'));
      return new PostgresTable(connections, await FeedSignal.open(connections), options);
    } catch (error) {
      await connections.close();
      throw error;
    }
  }

  async get(key: ItemKey): Promise<Attributes | undefined> {
    const rows = await this.#read<Row>('select v from items where k = $1', [encodeItemKey(key)]);
    return rows[0] && decodeItem(rows[0].v);
  }

  async getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    const encoded = keys.map(encodeItemKey);
    const rows = await this.#read<Row>('select k, v from items where k = any($1::bytea[])', [encoded]);
    return encoded.map((key) => {
      const row = rows.find(({ k }) => k.equals(key));
      return row && decodeItem(row.v);
    });
  }

  async query(pk: string, options: QueryOptions = {}): Promise<QueryPage> {
    const { reverse = false, limit = maxItemsOfPage, attributes } = options;
    const { rows, more } = await this.#page(rangeOf(pk, options), Math.min(limit, maxItemsOfPage), reverse);
    const items = rows.map(({ k, v }) => ({
      key: { pk, sk: decodeSortKey(k, pk) },
      attributes: decodeItem(v, attributes),
    }));
    return { items, more };
  }

  async *scan({ prefixes = [''] }: ScanOptions = {}): AsyncIterable<Item> {
    for (const range of rangesOf(prefixes)) {
      for (let rest: KeyRange | undefined = range; rest !== undefined;) {
        const { rows, more }: Page = await this.#page(rest, maxItemsOfPage, false);
        for (const { k, v } of rows) yield { key: decodeItemKey(k), attributes: decodeItem(v) };
        rest = more ? restOf(range, rows.at(-1)!.k, false) : undefined;
      }
    }
  }

  async write(
    changes: readonly Change[],
    conditions: readonly Condition[] = [],
    { within = writeTime }: WriteOptions = {},
  ): Promise<WriteOutcome> {
    const steps = stepsOf(changes, conditions);
    const until = performance.now() + within;
    const [only] = steps;
    const isPlain = steps.length === 1 && changes.length === 1 && only!.expectations.length === 0;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return isPlain ? await this.#writeOne(only!, until) : await this.#writeAll(steps, changes.length, until);
      } catch (error) {
        if (!isBusy(error)) throw error;
        // Contention ends soon; a server that is away may be back, or another may have taken its place.
        if (attempt === 3 || performance.now() + 100 > until) throw new TableBusy({ cause: error });
        await sleep(10 * 4 ** attempt * (1 + Math.random()));
      }
    }
  }

  async read(after: string | undefined, limit: number): Promise<readonly FeedRecord[]> {
    const rows = await this.#read<StoredRecord>(
      'select position, at, k, old, new from feed where position > $1 and position <= $2 order by position limit $3',
      [after ?? '0', String(await this.#horizon.reach()), limit],
    );
    return rows.map(asRecord);
  }

  /** @inheritdoc Those that other processes have written are known within the interval of {@link FeedSignal}. */
  newest(): string | undefined {
    const { newest } = this.#signal;
    return newest === 0n ? undefined : String(newest);
  }

  async trim(upTo: string): Promise<void> {
    const { prefix } = this.#connections;
    for (;;) {
      const removed = await this.#connections.alone(async (client) => {
        const { rowCount } = await client.query(
          `delete from ${prefix}feed where position in (
             select position from ${prefix}feed where position <= $1 order by position limit ${trimStep})`,
          [upTo],
        );
        return rowCount ?? 0;
      });
      if (removed < trimStep) return;
    }
  }

  /** Tells whether all records have been removed, also those that cannot be read yet as an older transaction runs. */
  async isFeedEmpty(): Promise<boolean> {
    return (await this.#read('select 1 as found from feed limit 1', [])).length === 0;
  }

  /** Begins the feed after this position, which another table's has reached, unless its own is beyond. */
  async advanceFeed(to: string): Promise<void> {
    const { prefix } = this.#connections;
    await this.#connections.read(
      `select setval($1::regclass, greatest($2::bigint, last_value)) from ${prefix}feed_position`,
      [`${prefix}feed_position`, to],
    );
  }

  subscribe(listener: () => void): () => void {
    return this.#signal.subscribe(listener);
  }

  onForeignChange(listener: (keys: readonly ItemKey[] | undefined) => void): void {
    this.#signal.follow((keys) => listener(keys?.map(decodeItemKey)));
  }

  async close(): Promise<void> {
    await this.#signal.close();
    await this.#connections.close();
  }

  /** @param text a statement in which `items` and `feed` stand behind `from` */
  #read<Found extends object>(text: string, values: readonly unknown[]): Promise<Found[]> {
    return this.#connections.read<Found>(
      text.replaceAll(/from (?=items|feed)/g, `from ${this.#connections.prefix}`),
      values,
    );
  }

  /** Reads rows until a page is full: of so many, or with so many bytes before the last one. */
  async #page({ start, end }: KeyRange, most: number, reverse: boolean): Promise<Page> {
    const order = reverse ? 'k desc' : 'k';
    const rows = await this.#read<Row>(
      `select k, v from (
         select k, v, sum(octet_length(v)) over (order by ${order} rows unbounded preceding) - octet_length(v) as before
         from items where k >= $1 and k < $2 order by ${order} limit $3
       ) as page where before <= ${maxBytesOfPage} order by ${order}`,
      [start, end, most + 1],
    );
    const bytes = rows.reduce((sum, { v }) => sum + v.length, 0);
    return { rows: rows.slice(0, most), more: rows.length > most || bytes > maxBytesOfPage };
  }

  /** Changes one item, whatever it is. An attempt without an answer is repeated. */
  async #writeOne(step: Step, until: number): Promise<WriteOutcome> {
    const { key, encodedKey, value } = step;
    const values = [encodedKey, value ?? null, this.#isFollowed(key), String(lockOf(encodedKey))];
    const text = `select former, newest from ${this.#connections.prefix}put_or_delete($1, $2, $3, $4, $5)`;
    const { rows } = await this.#connections.alone(
      (client) => committed(client, () => client.query<Put>(text, [...values, patienceOf(until)])),
      until,
    );
    const row = rows[0]!;
    this.#signal.written(row.newest, this.#rememberedOf([step]));
    return { outcome: 'written', old: [row.former === null ? undefined : decodeItem(row.former)] };
  }

  async #writeAll(steps: readonly Step[], changes: number, until: number): Promise<WriteOutcome> {
    return this.#connections.alone(async (client) => {
      const { items, transaction } = await this.#lock(client, steps, changes, until);
      const failed = steps.flatMap(({ key, expectations }, at) =>
        expectations.every((expectation) => holds(expectation, items[at])) ? [] : [{ key, item: items[at] }],
      );
      if (failed.length > 0 || changes === 0) {
        await client.query('rollback');
        return failed.length > 0 ? { outcome: 'conflict', failed } : { outcome: 'written', old: [] };
      }
      // What the caller relies on may no longer hold.
      if (performance.now() > until) throw new TimeIsUp();
      const changed = steps.slice(0, changes);
      const newest = await this.#change(client, changed, transaction);
      if (newest === undefined) return { outcome: 'unknown' };
      this.#signal.written(newest, this.#rememberedOf(changed));
      return { outcome: 'written', old: items.slice(0, changes) };
    }, until);
  }

  #rememberedOf(steps: readonly Step[]): readonly Buffer[] {
    return steps.filter(({ key }) => this.#isRemembered(key)).map(({ encodedKey }) => encodedKey);
  }

  /** Begins a transaction, and reads the items of a write once no other write can change them. */
  async #lock(client: Client, steps: readonly Step[], changes: number, until: number): Promise<Locked> {
    const locks = new Map<bigint, boolean>();
    for (const [at, { encodedKey }] of steps.entries()) {
      const lock = lockOf(encodedKey);
      locks.set(lock, at >= changes && (locks.get(lock) ?? true));
    }
    const sorted = [...locks].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const values = [
      steps.map(({ encodedKey }) => encodedKey),
      sorted.map(([lock]) => String(lock)),
      sorted.map(([, isShared]) => isShared),
      patienceOf(until),
    ];
    const { prefix } = this.#connections;
    const [, { rows }] = await settledTogether([
      client.query('begin'),
      client.query<Transaction & { v: Buffer | null }>(
        `select v, xid, incarnation from ${prefix}read_locked($1, $2, $3, $4)`,
        values,
      ),
    ] as const);
    return { items: rows.map(({ v }) => (v === null ? undefined : decodeItem(v))), transaction: rows[0]! };
  }

  /**
   * Changes the locked items, and commits.
   * @returns the newest position of the feed, null if it has no record; undefined if it cannot be determined whether it was committed
   */
  async #change(client: Client, steps: readonly Step[], transaction: Transaction): Promise<string | null | undefined> {
    const values = [
      steps.map(({ encodedKey }) => encodedKey),
      steps.map(({ value }) => value ?? null),
      steps.map(({ key }) => this.#isFollowed(key)),
    ];
    let newest: string | null = null;
    const text = `select ${this.#connections.prefix}change($1, $2, $3) as newest`;
    try {
      const [{ rows }, { command }] = await committed(client, () =>
        settledTogether([client.query<{ newest: string | null }>(text, values), client.query('commit')] as const),
      );
      newest = rows[0]!.newest;
      if (command !== 'COMMIT') throw new Error('the transaction was rolled back');
      return newest;
    } catch (error) {
      if (!isConnectionLost(error)) throw error;
      const isCommitted = await this.#isCommitted(transaction);
      if (isCommitted === false) throw error;
      return isCommitted ? newest : undefined;
    }
  }

  /**
   * Asks for the outcome of a transaction whose connection was lost. If the server has crashed since, a transaction of this number that was committed may
   * be another one, and is not known to be this; one that was not cannot be.
   * https://www.postgresql.org/docs/15/functions-info.html#FUNCTIONS-PG-SNAPSHOT
   */
  async #isCommitted(transaction: Transaction): Promise<boolean | undefined> {
    const until = performance.now() + settleTime;
    for (let wait = 20; performance.now() < until; wait = Math.min(2 * wait, 1000)) {
      try {
        const [row] = await this.#connections.read<Status>(this.#statusText, statusValues(transaction));
        const { status, same } = row!;
        if (status === 'committed' && same) return await this.#isReplicated(transaction);
        if (status === 'committed' || status === null) return undefined;
        if (status === 'aborted') return false;
      } catch (error) {
        // A number that the server has not given out yet: the transaction was lost with the server that did.
        if ((error as { code?: unknown }).code === '22023') return false;
        if (!isBusy(error) && !(error instanceof TableBusy)) throw error;
        if (this.#connections.isClosed) return undefined;
      }
      await sleep(wait);
    }
    return undefined;
  }

  /**
   * Commits something that changes nothing: whatever was committed on this server before is on its synchronous standby when that is. A connection
   * of its own waits for it, in place of the one that was lost, as reads must not wait behind it.
   * @throws as {@link Connections.connect} does, and if it was not committed
   */
  async #isReplicated(transaction: Transaction): Promise<true | undefined> {
    const client = await this.#connections.connect();
    try {
      const text = `${this.#statusText}, pg_logical_emit_message(true, 'stillage', '')`;
      const { rows } = await committed(client, () => client.query<Status>(text, statusValues(transaction)));
      // It may be another server by now.
      return (rows[0]!.status === 'committed' && rows[0]!.same) || undefined;
    } finally {
      void client.end().catch(() => undefined);
    }
  }

  get #statusText(): string {
    const { prefix } = this.#connections;
    return `select pg_xact_status($1::xid8) as status, exists (select from ${prefix}incarnation where id = $2::uuid) as same`;
  }
}

/** What the server knows of a transaction. */
interface Status {
  /** Null: too long ago. */
  readonly status: 'committed' | 'aborted' | 'in progress' | null;
  /** Whether the server has not crashed since, nor another one taken its place. */
  readonly same: boolean;
}

function statusValues({ xid, incarnation }: Transaction): string[] {
  return [xid, incarnation];
}

/** What `put_or_delete` returns. */
interface Put {
  readonly former: Buffer | null;
  readonly newest: string | null;
}

interface Page {
  readonly rows: readonly Row[];
  readonly more: boolean;
}

interface Locked {
  readonly items: readonly (Attributes | undefined)[];
  readonly transaction: Transaction;
}

/** What tells a transaction from others. */
interface Transaction {
  readonly xid: string;
  /** From one crash of the server to the next: schema.ts. */
  readonly incarnation: string;
}

/** A row of the feed. Numbers of 64 bits are text. */
interface StoredRecord {
  readonly position: string;
  readonly at: string;
  readonly k: Buffer;
  readonly old: Buffer | null;
  readonly new: Buffer | null;
}

function asRecord({ position, at, k, old, new: present }: StoredRecord): FeedRecord {
  return {
    shardId: 'table',
    position,
    at: Number(at),
    key: decodeItemKey(k),
    old: old === null ? undefined : decodeItem(old),
    new: present === null ? undefined : decodeItem(present),
  };
}

/** Nothing was written within the time that the caller allows. */
class TimeIsUp extends TableBusy {}

/** Returns the number of the lock of an item. Two items may share one. */
function lockOf(encodedKey: Buffer): bigint {
  return createHash('sha1').update(encodedKey).digest().readBigInt64BE();
}

/** Returns the time that a lock is waited for, as PostgreSQL reads it. */
function patienceOf(until: number): string {
  return `${Math.max(1, Math.ceil(until - performance.now()))}ms`;
}

/** Waits for all of the statements that were sent together, of which those behind a failed one fail as well. @throws the first error */
async function settledTogether<Results extends readonly Promise<unknown>[]>(
  sent: Results,
): Promise<{ -readonly [At in keyof Results]: Awaited<Results[At]> }> {
  await Promise.allSettled(sent);
  return Promise.all(sent);
}
