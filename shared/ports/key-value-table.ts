import type { ItemVisitor, Position } from './item-view.ts';

/**
 * The table port: items under a partition key and a sort key, as in DynamoDB. An adapter knows nothing of buckets, keys
 * or versions. `test/contract/key-value-table.ts` tests every adapter against this contract.
 */

/**
 * A value of an attribute. Numbers are safe integers or doubles: zero, or of a magnitude from 1e-130 to below 1e126.
 * Bytes are `Uint8Array`. Sets hold at least one string, in no particular order.
 */
export type Attribute =
  | string
  | number
  | boolean
  | Uint8Array
  | ReadonlySet<string>
  | readonly Attribute[]
  | { readonly [name: string]: Attribute };

/**
 * A type of values as the table stores them. An interface has no index signature and so is not an {@link Attribute}; a
 * mapped type with the same properties is, and lets the compiler check that all of them can be stored.
 */
export type Stored<Value> = Value extends object ? { readonly [Name in keyof Value]: Stored<Value[Name]> } : Value;

/** The key of an item. `pk` ≤ 1,500 bytes, `sk` ≤ 1,024 bytes of UTF-8, neither empty. */
export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

/**
 * The attributes of an item without its key. The optional attribute `r` is the write token of a put. It is unique to
 * that write, so finding it proves that the write happened.
 */
export type Attributes = { readonly [name: string]: Attribute };

/** A stored item. */
export interface Item {
  readonly key: ItemKey;
  readonly attributes: Attributes;
}

/**
 * The expected state of an item before a write. Plain data, so that adapters can translate it. A missing attribute is
 * neither equal nor less.
 */
export type Expectation =
  | { readonly is: 'absent' }
  | { readonly is: 'present' }
  | { readonly is: 'equal'; readonly attribute: string; readonly value: string | number }
  | { readonly is: 'less'; readonly attribute: string; readonly value: string | number }
  | { readonly is: 'missing'; readonly attribute: string }
  | { readonly is: 'all'; readonly of: readonly Expectation[] }
  | { readonly is: 'any'; readonly of: readonly Expectation[] };

/** An expectation of an item, which the write need not change. */
export interface Condition {
  readonly key: ItemKey;
  readonly expect: Expectation;
}

/** A put of a whole item, or its deletion. Items are never updated in part. */
export type Change =
  | { readonly key: ItemKey; readonly put: Attributes; readonly expect?: Expectation }
  | { readonly key: ItemKey; readonly delete: true; readonly expect?: Expectation };

/**
 * The outcome of a write.
 * - `written`: all changes are durable and visible. `old` holds the attributes that each change replaced, in order
 *   (undefined: no item), or is empty if they are not known. Only the write of a single change without further
 *   conditions must report them, and not even then if a response was lost.
 * - `conflict`: an expectation failed and nothing was changed. Never caused by an earlier attempt of the same call.
 *   `failed` lists the keys whose expectation failed, with the current item if the engine returns it.
 * - `unknown`: it cannot be determined whether the write happened (time-out, lost connection).
 */
export type WriteOutcome =
  | { readonly outcome: 'written'; readonly old: readonly (Attributes | undefined)[] }
  | {
      readonly outcome: 'conflict';
      readonly failed: readonly { readonly key: ItemKey; readonly item?: Attributes | undefined }[];
    }
  | { readonly outcome: 'unknown' };

/** The options of a write. */
export interface WriteOptions {
  /**
   * The milliseconds after which no attempt to write is made or waited for any more: for a write that relies on something read before
   * without a condition on it. What was sent by then may still arrive. Default: as long as the adapter tries.
   */
  readonly within?: number;
}

/** The options of a query, which reads one partition in the order of the sort keys' UTF-8 bytes. */
export interface QueryOptions {
  /** The first sort key to return (inclusive). With `reverse`, which starts at the end, the last one. */
  readonly from?: string;
  /** Continues after this sort key (exclusive), in the direction of the query. */
  readonly after?: string;
  /** Returns only sort keys with this prefix. */
  readonly prefix?: string;
  /** The maximum number of items. An adapter may return fewer; `more` then tells whether the query continues. */
  readonly limit?: number;
  readonly reverse?: boolean;
  /** The top-level attributes that the caller reads; an adapter may omit others. Default: all. */
  readonly attributes?: ReadonlySet<string>;
  /**
   * Allows items as they were some time ago, usually less than a second, each perhaps at another time: at half the price
   * in DynamoDB. Default: false.
   */
  readonly mayBeStale?: boolean;
}

/** The sort keys to visit: those with this prefix, from a position on. */
export interface VisitRange extends Position {
  readonly prefix: string;
  /** Visits them in the opposite order, beginning with the last. Positions then are those before the sort key `after`. */
  readonly reverse?: boolean;
}

export interface QueryPage {
  readonly items: readonly Item[];
  /** True if more items may follow the last one returned. */
  readonly more: boolean;
}

/** An item as it was when it was read. */
export interface RecentItem {
  /** Undefined: it was not there. */
  readonly item: Attributes | undefined;
  /** A time before the read, in milliseconds since the epoch. */
  readonly readAt: number;
}

/** The options of a scan of the whole table, or of some kinds of items. */
export interface ScanOptions {
  /** Returns only items whose partition key has one of these prefixes. Default: all items. */
  readonly prefixes?: readonly string[];
  /** Called with each item that cannot be decoded, instead of throwing. */
  readonly onDamaged?: (error: ItemDamaged) => void | Promise<void>;
}

/** A change of an item in the change feed. */
export interface FeedRecord {
  /** Positions increase within a shard. Embedded: there is one shard. DynamoDB: the shard id. */
  readonly shardId: string;
  /** A decimal number of up to 40 digits, to be compared as BigInt. */
  readonly position: string;
  /**
   * The time of the commit in milliseconds since the epoch, possibly in whole seconds. The same whenever the record is
   * read.
   */
  readonly at: number;
  readonly key: ItemKey;
  readonly old: Attributes | undefined;
  readonly new: Attributes | undefined;
}

export interface KeyValueTable {
  /** True if additional conditions of a write are free and exact (embedded, PostgreSQL). */
  readonly freeChecks: boolean;

  /**
   * The number of concurrent writes that share a commit, where a commit costs more than a write: it is best to do as many at
   * a time. Undefined: none do.
   */
  readonly writesPerCommit?: number;

  /** Returns the item as of the last acknowledged write, or undefined. */
  get(key: ItemKey): Promise<Attributes | undefined>;

  /**
   * Returns an item that was read at most `within` milliseconds ago, by a request of this process: without the changes that other processes
   * have made since, but with those of this one. With 0, as {@link get}. Only a table that is read by round trips has it, and whose
   * conditions are free: whoever commits what depends on the item lets the commit check it.
   */
  recent?(key: ItemKey, within: number): Promise<RecentItem>;

  /** Returns up to 10 items as of one instant. */
  getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]>;

  /** Returns a page of one partition. */
  query(pk: string, options?: QueryOptions): Promise<QueryPage>;

  /**
   * Shows the items of one partition in place, in the order of their sort keys' UTF-8 bytes or in the opposite one, as
   * many as one turn of the event loop permits. Only an adapter for which this is cheaper than {@link query} has it.
   * @returns the position to continue from, behind the last item shown; undefined if no items follow, or if the
   *   visitor stopped. Rejects with what the visitor throws
   */
  visit?(pk: string, range: VisitRange, visitor: ItemVisitor): Promise<Position | undefined>;

  /**
   * Returns every item. Partitions come in no particular order; the items of a partition come together, in the order of
   * their sort keys. An item that exists throughout is returned exactly once, in a state it had during the scan; one
   * that is created or deleted meanwhile may or may not be returned. The table may be written during a scan. Reads the
   * whole table, so it is not for requests.
   */
  scan(options?: ScanOptions): AsyncIterable<Item>;

  /**
   * Applies all changes if every expectation holds, otherwise none. Takes at least one change or condition, at most 100
   * items and 4 MB. No two changes, and no two conditions, may name the same item; the adapter merges a condition on a
   * changed item into its change. A single change without expectation may be applied twice during the call.
   * @throws TableBusy if nothing was written and a later attempt may succeed
   */
  write(changes: readonly Change[], conditions?: readonly Condition[], options?: WriteOptions): Promise<WriteOutcome>;

  close(): Promise<void>;
}

/**
 * The engine could not serve the call: overloaded, contended, unreachable or out of space. Nothing was written; a later
 * attempt may succeed.
 */
export class TableBusy extends Error {
  constructor(options?: ErrorOptions) {
    super('the table is too busy to answer', options);
    this.name = 'TableBusy';
  }
}

/** An item cannot be decoded: it is not what was written. */
export class ItemDamaged extends Error {
  readonly damage: string;
  readonly key: ItemKey | undefined;

  /** @param damage a clause about the item */
  constructor(damage: string, key?: ItemKey) {
    super(`the item${key ? ` ${key.pk} ${key.sk}` : ''} of the table is damaged: ${damage}`);
    this.name = 'ItemDamaged';
    this.damage = damage;
    this.key = key;
  }

  /** Returns the same error about the item of this key. */
  of(key: ItemKey): ItemDamaged {
    return new ItemDamaged(this.damage, key);
  }
}

/** The change feed of an embedded table: a log written in the same transaction as the change. */
export interface ChangeFeed {
  /** Returns up to `limit` records after the position `after` (undefined: from the oldest kept), oldest first. */
  read(after: string | undefined, limit: number): Promise<readonly FeedRecord[]>;
  /** Returns the position of the newest record, or undefined if nothing was ever written. */
  newest(): string | undefined;
  /** Removes records up to and including this position. */
  trim(upTo: string): Promise<void>;
  /** Calls back soon after records were appended. Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void;
}

/** Tells of what other processes change, where several write a table. */
export interface ForeignChanges {
  /**
   * Calls back soon after certain items were changed, by this process or another: a hint, which may be lost.
   * @param listener is told of their keys; undefined: of any
   */
  onForeignChange(listener: (keys: readonly ItemKey[] | undefined) => void): void;
}

/** Tells whether an expectation holds of an item. Defines the semantics for every adapter. */
export function holds(expectation: Expectation, item: Attributes | undefined): boolean {
  switch (expectation.is) {
    case 'absent':
      return item === undefined;
    case 'present':
      return item !== undefined;
    case 'equal':
      return item !== undefined && item[expectation.attribute] === expectation.value;
    case 'less': {
      const value = item?.[expectation.attribute];
      if (typeof value === 'number' && typeof expectation.value === 'number') return value < expectation.value;
      if (typeof value === 'string' && typeof expectation.value === 'string') {
        return Buffer.compare(Buffer.from(value), Buffer.from(expectation.value)) < 0;
      }
      return false;
    }
    case 'missing':
      return item?.[expectation.attribute] === undefined;
    case 'all':
      return expectation.of.every((one) => holds(one, item));
    case 'any':
      return expectation.of.some((one) => holds(one, item));
  }
}
