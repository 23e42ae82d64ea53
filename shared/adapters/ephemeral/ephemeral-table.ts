import { holds } from '../../ports/key-value-table.ts';
import type {
  Attributes,
  Change,
  ChangeFeed,
  Condition,
  FeedRecord,
  Item,
  ItemKey,
  KeyValueTable,
  QueryOptions,
  QueryPage,
  ScanOptions,
  WriteOutcome,
} from '../../ports/key-value-table.ts';
import { EventLoopBudget, stepsPerTurn } from '../../ports/event-loop.ts';
import { decodeItem } from '../encoded-table/item-encoding.ts';
import { stepsOf, type Step } from '../encoded-table/write-steps.ts';
import { SortedPartition } from './sorted-partition.ts';

export interface EphemeralTableOptions {
  /** Tells whether the change feed includes an item. Default: every item. */
  readonly isFollowed?: (key: ItemKey) => boolean;
}

/** The maximum number of items in a page. */
const maxItemsOfPage = 2000;
const maxBytesOfPage = 1024 * 1024;
/** Returns the cost of finding and decoding an item, in steps of an {@link EventLoopBudget}. */
const stepsToRead = (value: Buffer): number => 2 + value.length / 125;

/** A change as kept for the feed: with encoded items. */
interface LoggedChange {
  readonly position: number;
  readonly at: number;
  readonly key: ItemKey;
  readonly old: Buffer | undefined;
  readonly present: Buffer | undefined;
}

/**
 * The table of an ephemeral service, which is in memory and vanishes with the process. Items are kept encoded, as on
 * disk, so that callers never share an object with the table.
 */
export class EphemeralTable implements KeyValueTable, ChangeFeed {
  readonly freeChecks = true;
  readonly #partitions = new Map<string, SortedPartition>();
  readonly #isFollowed: (key: ItemKey) => boolean;
  readonly #listeners = new Set<() => void>();
  readonly #budget = new EventLoopBudget();
  #log: LoggedChange[] = [];
  #newest = 0;
  #calling = false;
  #bytes = 0;

  constructor({ isFollowed = () => true }: EphemeralTableOptions = {}) {
    this.#isFollowed = isFollowed;
  }

  /** The total size of all items as stored, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  async get(key: ItemKey): Promise<Attributes | undefined> {
    return this.#item(key);
  }

  async getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    return keys.map((key) => this.#item(key));
  }

  async query(pk: string, options: QueryOptions = {}): Promise<QueryPage> {
    const most = Math.min(options.limit ?? maxItemsOfPage, maxItemsOfPage);
    const items: Item[] = [];
    let bytes = 0;
    for (let rest = options, more = true; more;) {
      let steps = 0;
      more = false;
      for (const { sk, value } of this.#partitions.get(pk)?.walk(rest) ?? []) {
        if (items.length === most || bytes > maxBytesOfPage) return { items, more: true };
        items.push({ key: { pk, sk }, attributes: decodeItem(value, options.attributes) });
        bytes += value.length;
        steps += stepsToRead(value);
        if (steps < stepsPerTurn) continue;
        // Others may write before the next turn, so the position is found again by its sort key.
        rest = { ...options, after: sk };
        more = true;
        break;
      }
      if (more) await this.#budget.spend(steps);
    }
    return { items, more: false };
  }

  async *scan({ prefixes = [''] }: ScanOptions = {}): AsyncIterable<Item> {
    const partitions = [...this.#partitions.keys()].filter((pk) => prefixes.some((prefix) => pk.startsWith(prefix)));
    for (const pk of partitions) {
      for (let after: string | undefined; ;) {
        const page = await this.query(pk, after === undefined ? {} : { after });
        yield* page.items;
        if (!page.more) break;
        after = page.items.at(-1)!.key.sk;
      }
    }
  }

  async write(changes: readonly Change[], conditions: readonly Condition[] = []): Promise<WriteOutcome> {
    const outcome = this.#apply(stepsOf(changes, conditions), changes.length);
    if (outcome.outcome === 'written' && changes.some(({ key }) => this.#isFollowed(key))) this.#callListeners();
    return outcome;
  }

  async read(after: string | undefined, limit: number): Promise<readonly FeedRecord[]> {
    const first = this.#log.findIndex(({ position }) => position > Number(after ?? 0));
    return first === -1 ? [] : this.#log.slice(first, first + limit).map(asRecord);
  }

  newest(): string | undefined {
    return this.#newest === 0 ? undefined : String(this.#newest);
  }

  async trim(upTo: string): Promise<void> {
    const kept = this.#log.findIndex(({ position }) => position > Number(upTo));
    this.#log = kept === -1 ? [] : this.#log.slice(kept);
  }

  subscribe(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  async close(): Promise<void> {
    // Nothing is written to disk.
  }

  #item({ pk, sk }: ItemKey): Attributes | undefined {
    const value = this.#partitions.get(pk)?.get(sk);
    return value && decodeItem(value);
  }

  /**
   * Applies a write. Puts nothing before all expectations are checked. Runs in one turn of the event loop, so that no
   * reader sees half of it.
   */
  #apply(steps: readonly Step[], changes: number): WriteOutcome {
    const found = steps.map(({ key }) => this.#partitions.get(key.pk)?.get(key.sk));
    const items = found.map((bytes) => bytes && decodeItem(bytes));
    const failed = steps.flatMap(({ key, expectations }, index) =>
      expectations.every((expectation) => holds(expectation, items[index])) ? [] : [{ key, item: items[index] }],
    );
    if (failed.length > 0) return { outcome: 'conflict', failed };

    for (const [index, { key, value }] of steps.slice(0, changes).entries()) {
      const old = found[index];
      if (old === undefined && value === undefined) continue;
      this.#store(key, value);
      this.#bytes += (value?.length ?? 0) - (old?.length ?? 0);
      if (!this.#isFollowed(key)) continue;
      this.#newest += 1;
      this.#log.push({ position: this.#newest, at: Date.now(), key, old, present: value });
    }
    return { outcome: 'written', old: items.slice(0, changes) };
  }

  #store({ pk, sk }: ItemKey, value: Buffer | undefined): void {
    const partition = this.#partitions.get(pk) ?? new SortedPartition();
    if (value) partition.put(sk, value);
    else partition.remove(sk);
    if (partition.isEmpty) this.#partitions.delete(pk);
    else this.#partitions.set(pk, partition);
  }

  /** Calls the listeners once for all writes in a turn of the event loop. */
  #callListeners(): void {
    if (this.#calling) return;
    this.#calling = true;
    setImmediate(() => {
      this.#calling = false;
      for (const listener of this.#listeners) listener();
    });
  }
}

function asRecord({ position, at, key, old, present }: LoggedChange): FeedRecord {
  return {
    shardId: 'table',
    position: String(position),
    at,
    key,
    old: old && decodeItem(old),
    new: present && decodeItem(present),
  };
}
