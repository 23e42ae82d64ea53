/**
 * The table port: items under a partition key and a sort key, as DynamoDB has them. An adapter knows nothing of buckets,
 * keys or versions. Every rule here is held by `test/contract/key-value-table.ts`, which runs over every adapter.
 */

/**
 * A value an attribute may hold. Numbers are safe integers or doubles, of a size from 1e-130 to below 1e126 or zero; bytes
 * are `Uint8Array`; sets hold strings, at least one, in no particular order.
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
 * A type of values as the table stores them. An interface has no index signature, so that it is no {@link Attribute}; the same
 * properties spelt out are, and the compiler sees that nothing among them cannot be stored.
 */
export type Stored<Value> = Value extends object ? { readonly [Name in keyof Value]: Stored<Value[Name]> } : Value;

/** The name of an item. `pk` ≤ 1,500 bytes, `sk` ≤ 1,024 bytes of UTF-8, neither empty. */
export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

/**
 * The attributes of an item without its key. The attribute `r`, where a put has one, is its write token: no other write ever
 * has the same, so that finding it proves that this write happened.
 */
export type Attributes = { readonly [name: string]: Attribute };

/** A stored item. */
export interface Item {
  readonly key: ItemKey;
  readonly attributes: Attributes;
}

/**
 * What must hold of one item for a write to happen. Pure data, so that an adapter can translate it.
 * An attribute that is missing is neither equal nor less.
 */
export type Expectation =
  | { readonly is: 'absent' }
  | { readonly is: 'present' }
  | { readonly is: 'equal'; readonly attribute: string; readonly value: string | number }
  | { readonly is: 'less'; readonly attribute: string; readonly value: string | number }
  | { readonly is: 'missing'; readonly attribute: string }
  | { readonly is: 'all'; readonly of: readonly Expectation[] }
  | { readonly is: 'any'; readonly of: readonly Expectation[] };

/** An expectation of one item, which need not be among the written ones. */
export interface Condition {
  readonly key: ItemKey;
  readonly expect: Expectation;
}

/** One item put whole, or deleted. Items are never patched. */
export type Change =
  | { readonly key: ItemKey; readonly put: Attributes; readonly expect?: Expectation }
  | { readonly key: ItemKey; readonly delete: true; readonly expect?: Expectation };

/**
 * How a write ended.
 * - `written`: all changes are durable and visible. `old` holds what each change replaced, in order (undefined: nothing),
 *   or is empty where that is not known: only a write of a single change without further conditions must report it, and not
 *   even that when an answer was lost on the way.
 * - `conflict`: an expectation failed and nothing was changed. Never caused by an earlier attempt of this same call.
 *   `failed` lists the keys whose expectation failed, with the item as it is where the engine tells.
 * - `unknown`: nobody can tell whether it was written (time-out, lost connection).
 */
export type WriteOutcome =
  | { readonly outcome: 'written'; readonly old: readonly (Attributes | undefined)[] }
  | {
      readonly outcome: 'conflict';
      readonly failed: readonly { readonly key: ItemKey; readonly item: Attributes | undefined }[];
    }
  | { readonly outcome: 'unknown' };

/** A walk through one partition in the order of the sort keys' UTF-8 bytes. */
export interface QueryOptions {
  /** First sort key that may be returned (inclusive). With `reverse`, the walk starts at the end and this is its last. */
  readonly from?: string;
  /** The walk continues behind this sort key (exclusive), in its own direction. */
  readonly after?: string;
  /** Only sort keys that begin with this string. */
  readonly prefix?: string;
  /** At most this many items; an adapter may return fewer, `more` then says whether the walk goes on. */
  readonly limit?: number;
  readonly reverse?: boolean;
  /** The attributes that the caller looks at; an adapter may leave out others, and the top level alone is meant. Default: all. */
  readonly attributes?: ReadonlySet<string>;
}

export interface QueryPage {
  readonly items: readonly Item[];
  /** Whether items may follow behind the last one returned. */
  readonly more: boolean;
}

/** A walk through the whole table, or through some kinds of items. */
export interface ScanOptions {
  /** Only items whose partition key begins with one of these. Default: all items. */
  readonly prefixes?: readonly string[];
}

/** One change of one item, as the feed tells it. */
export interface FeedRecord {
  /** Positions rise within a shard. Embedded: there is one. DynamoDB: the shard id. */
  readonly shardId: string;
  /** A decimal number of up to 40 digits: compare as BigInt. */
  readonly position: string;
  /** When it was committed, in milliseconds since the epoch, perhaps only to the second. The same whenever the record comes. */
  readonly at: number;
  readonly key: ItemKey;
  readonly old: Attributes | undefined;
  readonly new: Attributes | undefined;
}

export interface KeyValueTable {
  /** True where further conditions of a write cost nothing and are exact (embedded). */
  readonly freeChecks: boolean;

  /** The item as of the last acknowledged write, or undefined. */
  get(key: ItemKey): Promise<Attributes | undefined>;

  /** Up to 10 items as of one instant. */
  getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]>;

  /** A page of one partition. */
  query(pk: string, options?: QueryOptions): Promise<QueryPage>;

  /**
   * Every item, in no particular order; but the items of one partition come one after the other, in the order of their sort
   * keys. An item that is there throughout is shown exactly once, as it was at some moment of the walk; one that comes or goes
   * meanwhile may be shown or not. The table may be written while it is walked through. It reads all of it: not for requests.
   */
  scan(options?: ScanOptions): AsyncIterable<Item>;

  /**
   * All changes or none, if every expectation holds. At least one change or condition, at most 100 items and 4 MB.
   * No two changes, and no two conditions, name the same item; the adapter merges a condition on a changed item into its
   * change. A single change without any expectation may be applied twice while the call lasts.
   * @throws TableBusy if nothing was written and it is worth trying later
   */
  write(changes: readonly Change[], conditions?: readonly Condition[]): Promise<WriteOutcome>;

  close(): Promise<void>;
}

/** The engine could not serve the call: overloaded, contended or out of reach. Nothing was written; later it may work. */
export class TableBusy extends Error {
  constructor(options?: ErrorOptions) {
    super('the table is too busy to answer', options);
    this.name = 'TableBusy';
  }
}

/** The feed of an embedded table: a log written in the same transaction as the change. */
export interface ChangeFeed {
  /** Up to `limit` records behind `after` (undefined: from the oldest kept), oldest first. */
  read(after: string | undefined, limit: number): Promise<readonly FeedRecord[]>;
  /** The position of the newest record, or undefined when nothing was ever written. */
  newest(): string | undefined;
  /** Forget records up to and including this position. */
  trim(upTo: string): Promise<void>;
  /** Calls back, soon, after records were appended. Returns the way to stop it. */
  subscribe(listener: () => void): () => void;
}

/** Whether an expectation holds of an item: the meaning that every adapter must give it. */
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
