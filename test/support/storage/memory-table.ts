import { itemBytes } from '../../../shared/storage/table/item-size.ts';
import { holds } from '../../../shared/ports/key-value-table.ts';
import type {
  Attributes,
  Change,
  Condition,
  FeedRecord,
  Item,
  ItemKey,
  KeyValueTable,
  QueryOptions,
  QueryPage,
  ScanOptions,
  WriteOutcome,
} from '../../../shared/ports/key-value-table.ts';

/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html: a page ends with the item that exceeds it. */
const pageBytes = 1024 * 1024;
/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html */
const transactionItems = 100;

/**
 * A table in memory, for tests of the code above it. It keeps a feed of all changes, counts the calls, and has DynamoDB's limits: pages of
 * a query have 1 MB, transactions 100 items.
 */
export class MemoryTable implements KeyValueTable {
  readonly freeChecks: boolean;
  readonly feed: FeedRecord[] = [];
  /** The time of its records. */
  now: () => number = () => 0;
  /**
   * The number of the table's last changes that an eventually consistent read misses: DynamoDB promises no order between those it
   * shows and those it does not. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.ReadConsistency.html
   */
  staleBy: () => number = () => 2;
  readonly calls = { get: 0, getTogether: 0, query: 0, write: 0 };
  /** Called before the conditions of a write are evaluated: its own writes come first. */
  beforeWrite: (changes: readonly Change[]) => Promise<void> = async () => undefined;
  /** Called after a read has seen its items: the reader does not see its writes. */
  afterRead: (key: ItemKey) => Promise<void> = async () => undefined;
  readonly #partitions = new Map<string, Map<string, Attributes>>();

  constructor({ freeChecks = true } = {}) {
    this.freeChecks = freeChecks;
  }

  async get(key: ItemKey): Promise<Attributes | undefined> {
    this.calls.get += 1;
    const item = this.#item(key);
    await this.afterRead(key);
    return item;
  }

  async getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    this.calls.getTogether += 1;
    return keys.map((key) => this.#item(key));
  }

  async query(
    pk: string,
    { from, after, prefix = '', limit, reverse = false, mayBeStale = false }: QueryOptions = {},
  ): Promise<QueryPage> {
    this.calls.query += 1;
    const partition = mayBeStale ? this.#staleImage(pk) : (this.#partitions.get(pk) ?? new Map<string, Attributes>());
    const found = [...partition.keys()]
      .filter(
        (sk) =>
          sk.startsWith(prefix) &&
          (from === undefined || order(sk, from) >= 0) &&
          (after === undefined || (reverse ? order(sk, after) < 0 : order(sk, after) > 0)),
      )
      .sort(order);
    if (reverse) found.reverse();
    const items: Item[] = [];
    for (let bytes = 0; items.length < Math.min(limit ?? found.length, found.length) && bytes <= pageBytes;) {
      const key = { pk, sk: found[items.length]! };
      const attributes = partition.get(key.sk)!;
      items.push({ key, attributes });
      bytes += itemBytes({ ...key }) + itemBytes(attributes);
    }
    return { items, more: items.length < found.length };
  }

  async *scan({ prefixes = [''] }: ScanOptions = {}): AsyncIterable<Item> {
    const partitions = [...this.#partitions.keys()].filter((pk) => prefixes.some((prefix) => pk.startsWith(prefix)));
    for (const pk of partitions) {
      for (const sk of this.keysOf(pk)) {
        const attributes = this.#item({ pk, sk });
        if (attributes) yield { key: { pk, sk }, attributes };
      }
    }
  }

  async write(changes: readonly Change[], conditions: readonly Condition[] = []): Promise<WriteOutcome> {
    this.calls.write += 1;
    const named = new Set([...changes, ...conditions].map(({ key }) => `${key.pk}\n${key.sk}`));
    if (named.size > transactionItems) throw new Error(`ValidationException: a transaction of ${named.size} items`);
    await this.beforeWrite(changes);
    const failed = [...changes, ...conditions]
      .filter(({ key, expect }) => expect !== undefined && !holds(expect, this.#item(key)))
      .map(({ key }) => ({ key, item: this.#item(key) }));
    if (failed.length > 0) return { outcome: 'conflict', failed };
    const old = changes.map(({ key }) => this.#item(key));
    for (const [at, change] of changes.entries()) {
      const items = this.#partitions.get(change.key.pk) ?? new Map<string, Attributes>();
      this.#partitions.set(change.key.pk, items);
      const present = 'put' in change ? change.put : undefined;
      if (present) items.set(change.key.sk, present);
      else items.delete(change.key.sk);
      const position = String(this.feed.length + 1);
      this.feed.push({ shardId: 'shard-1', position, at: this.now(), key: change.key, old: old[at], new: present });
    }
    return { outcome: 'written', old };
  }

  async close(): Promise<void> {
    // Nothing to close.
  }

  /** The sort keys of a partition, in order. */
  keysOf(pk: string): string[] {
    return [...(this.#partitions.get(pk)?.keys() ?? [])].sort(order);
  }

  /** A partition without the table's last changes. */
  #staleImage(pk: string): ReadonlyMap<string, Attributes> {
    const image = new Map(this.#partitions.get(pk));
    const missed = this.staleBy();
    for (const { key, old } of missed === 0 ? [] : this.feed.slice(-missed).reverse()) {
      if (key.pk !== pk) continue;
      if (old) image.set(key.sk, old);
      else image.delete(key.sk);
    }
    return image;
  }

  #item({ pk, sk }: ItemKey): Attributes | undefined {
    return this.#partitions.get(pk)?.get(sk);
  }
}

function order(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
