import { SortedKeys } from './sorted-keys.ts';
import { itemBytes } from '../../shared/storage/table/item-size.ts';
import { isFollowed } from '../../shared/storage/table/keys/keys.ts';
import { holds } from '../../shared/ports/key-value-table.ts';
import type { CurrentRequest } from './current-request.ts';
import type {
  Attributes,
  Change,
  Condition,
  FeedRecord,
  Item,
  ItemKey,
  QueryOptions,
  QueryPage,
  WriteOutcome,
} from '../../shared/ports/key-value-table.ts';

/** The limits of the port, which are those of DynamoDB: shared/ports/key-value-table.ts, docs/data-layout.md. */
const limits = { pk: 1500, sk: 1024, item: 400 * 1024, items: 100, transaction: 4 * 1024 * 1024, page: 1024 * 1024 };
/** The longest staleness of an eventually consistent read, in milliseconds. */
const longestStaleness = 5000;
/** The number of changes that are kept for such reads. */
const keptChanges = 1000;

/** The origin of a write. */
export interface Writer {
  readonly process: string;
  /** The request that the process serves; undefined if it does something by itself. */
  readonly request: CurrentRequest | undefined;
}

/** Hears of every write that was carried out. */
export type WriteObserver = (
  changes: readonly Change[],
  by: Writer,
  before: (key: ItemKey) => Attributes | undefined,
) => void;

/** An item that a transaction has changed, and plain reads still see as it was. */
interface Hidden {
  readonly old: Attributes | undefined;
  readonly until: number;
}

/** The change of an item, for reads that may be stale. */
interface Past {
  readonly at: number;
  readonly key: ItemKey;
  readonly old: Attributes | undefined;
}

/** The items of the simulated table, with the limits of the port. `SimulatedTable` decides on the faults of calls. */
export class TableState {
  /** The records of all followed items, oldest first. */
  readonly feed: FeedRecord[] = [];
  observe: WriteObserver = () => undefined;
  readonly #partitions = new Map<string, SortedKeys<Attributes>>();
  readonly #hidden = new Map<string, Hidden>();
  readonly #past: Past[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Calls back at every change of a followed item. Returns a function that ends the subscription. */
  onFollowedChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns an item as transactions see it. */
  item({ pk, sk }: ItemKey): Attributes | undefined {
    return this.#partitions.get(pk)?.get(sk);
  }

  /** Returns an item as a plain read sees it. */
  shown(key: ItemKey): Attributes | undefined {
    const hidden = this.#hidden.get(nameOf(key));
    return hidden && this.#now() < hidden.until ? hidden.old : this.item(key);
  }

  /** Shows items as they are to plain reads, too. */
  show(keys: readonly ItemKey[]): void {
    for (const key of keys) this.#hidden.delete(nameOf(key));
  }

  /** Returns items as of one instant. */
  together(keys: readonly ItemKey[]): readonly (Attributes | undefined)[] {
    if (keys.length > 10) throw new Error(`${keys.length} items are too many to be read as of one instant`);
    this.show(keys);
    return keys.map((key) => this.item(key));
  }

  /** @param staleness returns how old the state of an item may be that a stale read sees, in milliseconds */
  query(pk: string, options: QueryOptions, maxItems: number, staleness: () => number): QueryPage {
    const { from, after, prefix = '', reverse = false, limit = Infinity } = options;
    const images = this.#images(pk, options.mayBeStale === true ? staleness : undefined);
    const fits = (sk: string): boolean =>
      sk.startsWith(prefix) &&
      (from === undefined || SortedKeys.compare(sk, from) >= 0) &&
      (after === undefined || (reverse ? SortedKeys.compare(sk, after) < 0 : SortedKeys.compare(sk, after) > 0));
    const keys = images.keys().filter(fits);
    if (reverse) keys.reverse();
    const items: Item[] = [];
    let bytes = 0;
    for (const sk of keys) {
      if (items.length === Math.min(limit, maxItems) || bytes > limits.page) return { items, more: true };
      const attributes = images.get(sk)!;
      items.push({ key: { pk, sk }, attributes: only(attributes, options.attributes) });
      bytes += itemBytes({ pk, sk }) + itemBytes(attributes);
    }
    return { items, more: false };
  }

  /** Returns the partition keys with one of these prefixes. */
  partitions(prefixes: readonly string[]): readonly string[] {
    return [...this.#partitions.keys()].filter((pk) => prefixes.some((prefix) => pk.startsWith(prefix)));
  }

  /** Returns all items of the kinds with these prefixes, as they are. */
  items(prefixes: readonly string[]): readonly Item[] {
    return this.partitions(prefixes).flatMap((pk) => {
      const partition = this.#partitions.get(pk)!;
      return partition.keys().map((sk) => ({ key: { pk, sk }, attributes: partition.get(sk)! }));
    });
  }

  /**
   * Executes a write according to the port.
   * @param shownAfter returns the milliseconds for which plain reads return the old image of an item of a transaction
   */
  write(
    changes: readonly Change[],
    conditions: readonly Condition[],
    by: Writer,
    shownAfter: () => number,
  ): WriteOutcome {
    check(changes, conditions);
    const failed = [...changes, ...conditions]
      .filter(({ key, expect }) => expect !== undefined && !holds(expect, this.item(key)))
      .map(({ key }) => ({ key, item: this.item(key) }));
    this.show(changes.map(({ key }) => key));
    if (failed.length > 0) return { outcome: 'conflict', failed };
    const old = changes.map(({ key }) => this.item(key));
    const before = new Map(changes.map(({ key }, at) => [nameOf(key), old[at]]));
    for (const [at, change] of changes.entries()) {
      const wait = changes.length > 1 ? shownAfter() : 0;
      if (wait > 0) this.#hidden.set(nameOf(change.key), { old: old[at], until: this.#now() + wait });
      this.#apply(change, old[at]);
    }
    this.observe(changes, by, (key) => before.get(nameOf(key)));
    return { outcome: 'written', old };
  }

  #apply(change: Change, old: Attributes | undefined): void {
    const { key } = change;
    const { pk, sk } = key;
    const present = 'put' in change ? Object.freeze(change.put) : undefined;
    const partition = this.#partitions.get(pk) ?? new SortedKeys<Attributes>();
    this.#partitions.set(pk, partition);
    if (present) partition.set(sk, present);
    else partition.delete(sk);
    if (partition.size === 0) this.#partitions.delete(pk);
    const at = this.#now();
    this.#past.push({ at, key, old });
    if (this.#past.length > 2 * keptChanges) this.#past.splice(0, keptChanges);
    // A change that leaves an item as it was has no record.
    if ((old === undefined && present === undefined) || !isFollowed(key)) return;
    this.feed.push({ shardId: '', position: String(this.feed.length + 1), at, key, old, new: present });
    for (const listener of this.#listeners) listener();
  }

  /** Returns a partition as plain reads see it, each item as it was some time ago. */
  #images(pk: string, staleness: (() => number) | undefined): SortedKeys<Attributes> {
    const partition = this.#partitions.get(pk) ?? new SortedKeys<Attributes>();
    const now = this.#now();
    const images = new Map<string, Attributes | undefined>();
    for (const [name, { old, until }] of this.#hidden) {
      if (until <= now) this.#hidden.delete(name);
      else if (name.startsWith(`${pk}\n`)) images.set(name.slice(pk.length + 1), old);
    }
    const ages = new Map<string, number>();
    for (const past of staleness === undefined ? [] : this.#past.toReversed()) {
      if (past.at <= now - longestStaleness) break;
      if (past.key.pk !== pk) continue;
      const age = ages.get(past.key.sk) ?? Math.min(staleness!(), longestStaleness);
      ages.set(past.key.sk, age);
      if (past.at > now - age) images.set(past.key.sk, past.old);
    }
    if (images.size === 0) return partition;
    const seen = partition.copy();
    for (const [sk, image] of images) {
      if (image) seen.set(sk, image);
      else seen.delete(sk);
    }
    return seen;
  }
}

/** @throws Error if a write exceeds the limits of the port */
function check(changes: readonly Change[], conditions: readonly Condition[]): void {
  const refuse = (why: string): never => {
    throw new Error(`a write that the port does not allow: ${why}`);
  };
  const unique = (keys: readonly ItemKey[]): boolean => new Set(keys.map(nameOf)).size === keys.length;
  const changed = changes.map(({ key }) => key);
  const looked = conditions.map(({ key }) => key);
  if (!unique(changed) || !unique(looked)) refuse('it names an item twice');
  const items = new Set([...changed, ...looked].map(nameOf)).size;
  if (items === 0 || items > limits.items) refuse(`${items} items`);
  let bytes = 0;
  for (const { pk, sk } of [...changed, ...looked]) {
    const sizes = [Buffer.byteLength(pk), Buffer.byteLength(sk)] as const;
    if (sizes[0] === 0 || sizes[0] > limits.pk || sizes[1] === 0 || sizes[1] > limits.sk) refuse(`the key ${pk} ${sk}`);
  }
  for (const change of changes) {
    if (!('put' in change)) continue;
    const size = itemBytes({ ...change.key }) + itemBytes(change.put);
    if (size > limits.item) refuse(`an item of ${size} bytes`);
    bytes += size;
  }
  if (bytes > limits.transaction) refuse(`${bytes} bytes`);
}

/** Returns the attributes that a reader named; others it need not get. */
function only(attributes: Attributes, names: ReadonlySet<string> | undefined): Attributes {
  if (names === undefined) return attributes;
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => names.has(name)));
}

function nameOf({ pk, sk }: ItemKey): string {
  return `${pk}\n${sk}`;
}
