import type { Database, DatabaseOptions, RootDatabaseOptions } from 'lmdb';
import { holds, ItemDamaged, TableBusy } from '../../../ports/key-value-table.ts';
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
  VisitRange,
  WriteOutcome,
} from '../../../ports/key-value-table.ts';
import type { ItemVisitor, Position } from '../../../ports/item-view.ts';
import { EventLoopBudget, stepsPerTurn } from '../../../ports/event-loop.ts';
import { decodeItem } from '../../encoded-table/item-encoding.ts';
import {
  decodeItemKey,
  decodeSortKey,
  encodeItemKey,
  rangeOf,
  rangesOf,
  restOf,
  type KeyRange,
} from '../../encoded-table/item-key.ts';
import { stepsOf, type Step } from '../../encoded-table/write-steps.ts';
import { Boundaries, KeyOrder } from './boundaries.ts';
import { FeedLog } from './feed-log.ts';
import { CommitUnknown, maxJobs } from './group-commit.ts';
import { ItemsInPlace } from './items-in-place.ts';
import { LmdbEnvironment } from './lmdb-environment.ts';
import { inDirection } from './range-in-direction.ts';
import { seal, unseal } from './sealed-item.ts';

export interface LmdbTableOptions {
  /**
   * Tells whether the change feed includes an item. Default: every item. Items that nothing follows need not be written
   * twice.
   */
  readonly isFollowed?: (key: ItemKey) => boolean;
  /** Commits for this process if another process does so. Reads see its commits as soon as they are acknowledged. */
  readonly commits?: Commits;
}

/** Executes writes: the table itself, or the process that commits for all. */
export interface Commits {
  /**
   * Applies the first `changes` steps if all steps find what they expect.
   * @throws TableBusy if nothing was written
   */
  commit(steps: readonly Step[], changes: number): Promise<WriteOutcome>;
}

/** Returns the cost of finding and decoding an item, in steps. */
function stepsToRead(value: Buffer): number {
  return 2 + value.length / 125;
}

/** The maximum number of items in a page. */
const maxItemsOfPage = 2000;
const maxBytesOfPage = 1024 * 1024;
/** The number of records removed in one transaction, limited so that writers are not kept waiting. */
const trimStep = 1000;

/**
 * The table on one machine: databases of an LMDB environment. Reads are memory look-ups and see the newest commit, also
 * of another process. A write resolves once it is on disk, and is not visible before.
 */
export class LmdbTable implements KeyValueTable, ChangeFeed, Commits {
  readonly freeChecks = true;
  readonly writesPerCommit = maxJobs;
  readonly #environment: LmdbEnvironment;
  readonly #items: Database<Buffer, Buffer>;
  readonly #boundaries: Boundaries;
  /** Used by one read at a time. */
  readonly #order = new KeyOrder();
  readonly #inPlace: ItemsInPlace;
  readonly #log: FeedLog;
  readonly #isFollowed: (key: ItemKey) => boolean;
  readonly #commits: Commits;
  readonly #listeners = new Set<() => void>();
  /** The items that writes of the current transaction only check, most of them the same: their bucket. */
  readonly #checked = new Map<string, Attributes | undefined>();
  #calling = false;
  #seals: (key: ItemKey) => boolean = () => false;

  constructor(environment: LmdbEnvironment, { isFollowed = () => true, commits }: LmdbTableOptions = {}) {
    this.#environment = environment;
    this.#items = environment.database('items', itemFormat);
    this.#boundaries = new Boundaries(this.#items);
    this.#inPlace = new ItemsInPlace(environment, this.#boundaries);
    this.#log = new FeedLog(environment);
    this.#isFollowed = isFollowed;
    this.#commits = commits ?? this;
    environment.enlist({ begin: () => void this.#checked.clear(), end: () => undefined });
  }

  /** Opens a table in a separate environment. */
  static async open(directory: string, options: LmdbTableOptions = {}): Promise<LmdbTable> {
    return new LmdbTable(await LmdbEnvironment.open(directory), options);
  }

  /** Says whether there is no item at all. */
  isEmpty(): boolean {
    return this.#items.getKeysCount({ limit: 1 }) === 0;
  }

  /**
   * Stores items and records of the feed with checksums from now on, which earlier versions cannot read: sealed-item.ts.
   * @param plain the key of an item that they must be able to read
   */
  sealItems(plain?: ItemKey): void {
    this.#seals = ({ pk, sk }) => pk !== plain?.pk || sk !== plain.sk;
    this.#log.sealRecords();
  }

  async get(key: ItemKey): Promise<Attributes | undefined> {
    this.#environment.look();
    return this.#item(key);
  }

  async getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    this.#environment.look();
    return keys.map((key) => this.#item(key));
  }

  async query(pk: string, options: QueryOptions = {}): Promise<QueryPage> {
    this.#environment.look();
    const most = Math.min(options.limit ?? maxItemsOfPage, maxItemsOfPage);
    const { reverse = false } = options;
    const range = rangeOf(pk, options);
    const items: Item[] = [];
    const budget = new EventLoopBudget();
    let bytes = 0;
    for (;;) {
      const last = items.at(-1) && encodeItemKey(items.at(-1)!.key);
      const rest = last === undefined ? range : restOf(range, last, reverse);
      let steps = 0;
      let more = false;
      let isFirst = true;
      this.#boundaries.enter(rest, reverse);
      this.#order.begin(reverse);
      // One turn reads this much in one go, since values from the engine are valid only until the next read.
      for (const { key, value } of this.#items.getRange({
        ...inDirection(rest, reverse),
        limit: most + 1 - items.length,
      })) {
        if (isFirst) this.#boundaries.begin(rest, reverse, key);
        isFirst = false;
        this.#order.next(key, 0, key.length);
        if (items.length === most || bytes > maxBytesOfPage) return { items, more: true };
        const itemKey = { pk, sk: decodeSortKey(key, pk) };
        items.push({ key: itemKey, attributes: decode(itemKey, key, value, options.attributes) });
        bytes += value.length;
        steps += stepsToRead(value);
        if (steps < stepsPerTurn) continue;
        more = true;
        break;
      }
      if (!more) {
        this.#boundaries.leave(rest, reverse, items.at(-1) && encodeItemKey(items.at(-1)!.key));
        return { items, more };
      }
      await budget.spend(steps);
      this.#environment.look();
    }
  }

  async visit(pk: string, range: VisitRange, visitor: ItemVisitor): Promise<Position | undefined> {
    this.#environment.look();
    return this.#inPlace.visit(pk, range, visitor);
  }

  /** Reads page by page, since an open snapshot prevents the engine from reusing freed space. */
  async *scan({ prefixes = [''], onDamaged }: ScanOptions = {}): AsyncIterable<Item> {
    for (const { start, end } of rangesOf(prefixes)) {
      for (let rest: KeyRange | undefined = { start, end }; rest !== undefined;) {
        this.#environment.look();
        const { items, damaged, next } = this.#scanPage(rest);
        if (damaged.length > 0 && onDamaged === undefined) throw damaged[0]!;
        yield* items;
        for (const error of damaged) await onDamaged?.(error);
        rest = next;
      }
    }
  }

  /** Reads a page of a scan, which passes damaged items: their keys, which may be wrong as well, do not end it. */
  #scanPage(range: KeyRange): {
    readonly items: readonly Item[];
    readonly damaged: readonly ItemDamaged[];
    readonly next: KeyRange | undefined;
  } {
    const items: Item[] = [];
    const damaged: ItemDamaged[] = [];
    const reporting = (read: () => void): void => {
      try {
        read();
      } catch (error) {
        if (!(error instanceof ItemDamaged)) throw error;
        damaged.push(error);
      }
    };
    let bytes = 0;
    let last: Buffer | undefined;
    reporting(() => this.#boundaries.enter(range, false));
    for (const { key, value } of this.#items.getRange({ start: range.start })) {
      const before: number = items.length;
      let isPast = false;
      reporting(() => {
        const itemKey = decodeItemKey(key);
        const attributes = decode(itemKey, key, value);
        this.#boundaries.begin(range, false, key);
        isPast = Buffer.compare(key, range.end) >= 0;
        if (!isPast) items.push({ key: itemKey, attributes });
      });
      if (isPast) return { items, damaged, next: undefined };
      bytes += value.length;
      last = Buffer.from(key);
      if (items.length === before) continue;
      // A page ends with an item that is sound, since the next one begins there.
      if (items.length + damaged.length >= maxItemsOfPage || bytes > maxBytesOfPage)
        return { items, damaged, next: restOf(range, last, false) };
    }
    reporting(() => this.#boundaries.leave(range, false, last));
    return { items, damaged, next: undefined };
  }

  async write(changes: readonly Change[], conditions: readonly Condition[] = []): Promise<WriteOutcome> {
    return this.#commits.commit(stepsOf(changes, conditions), changes.length);
  }

  async commit(steps: readonly Step[], changes: number): Promise<WriteOutcome> {
    try {
      const outcome = await this.#environment.run(() => this.#apply(steps, changes));
      if (outcome instanceof ItemDamaged) throw outcome;
      const isFollowed = steps.slice(0, changes).some(({ key }) => this.#isFollowed(key));
      if (outcome.outcome === 'written' && isFollowed) this.#callListeners();
      return outcome;
    } catch (error) {
      if (!(error instanceof CommitUnknown)) throw error;
      if (this.#environment.hasChangedNothing()) throw new TableBusy({ cause: error.cause });
      return { outcome: 'unknown' };
    }
  }

  async read(after: string | undefined, limit: number): Promise<readonly FeedRecord[]> {
    this.#environment.look();
    return this.#log.read(Number(after ?? 0), limit);
  }

  newest(): string | undefined {
    this.#environment.look();
    const newest = this.#log.newest();
    return newest === 0 ? undefined : String(newest);
  }

  async trim(upTo: string): Promise<void> {
    while (await this.#environment.run(() => this.#log.trim(Number(upTo), trimStep)));
  }

  /** Begins the feed after this position, which another table's has reached, unless its own is beyond. */
  async advanceFeed(to: string): Promise<void> {
    await this.#environment.run(() => this.#log.advance(Number(to)));
  }

  subscribe(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Closes the environment when the pending writes have ended. */
  close(): Promise<void> {
    return this.#environment.close();
  }

  #item(key: ItemKey): Attributes | undefined {
    const encodedKey = encodeItemKey(key);
    const bytes = this.#items.get(encodedKey);
    if (bytes !== undefined) return decode(key, encodedKey, bytes);
    this.#boundaries.verifyMissing(encodedKey);
    return undefined;
  }

  /**
   * Applies a write within a transaction. Puts nothing before all expectations are checked. Returns damage instead of
   * throwing it, which would fail the other writes of the transaction.
   */
  #apply(steps: readonly Step[], changes: number): WriteOutcome | ItemDamaged {
    const found: (Buffer | undefined)[] = [];
    const items: (Attributes | undefined)[] = [];
    try {
      for (const [index, step] of steps.entries()) {
        if (index >= changes) {
          items.push(this.#check(step));
          continue;
        }
        const stored = this.#stored(step.encodedKey);
        const item = stored && reading(step.key, () => unseal(step.encodedKey, stored));
        found.push(item);
        items.push(item && reading(step.key, () => decodeItem(item)));
      }
    } catch (error) {
      if (error instanceof ItemDamaged) return error;
      throw error;
    }
    const failed = steps.flatMap(({ key, expectations }, index) =>
      expectations.every((expectation) => holds(expectation, items[index])) ? [] : [{ key, item: items[index] }],
    );
    if (failed.length > 0) return { outcome: 'conflict', failed };

    for (const [index, { key, encodedKey, value }] of steps.slice(0, changes).entries()) {
      const old = found[index];
      if (old === undefined && value === undefined) continue;
      if (value === undefined) void this.#items.remove(encodedKey);
      else void this.#items.put(encodedKey, this.#seals(key) ? seal(encodedKey, value) : value);
      if (this.#isFollowed(key)) this.#log.append(key, old, value);
      this.#checked.delete(nameOf(encodedKey));
    }
    return { outcome: 'written', old: items.slice(0, changes) };
  }

  /** Returns an item that is not changed, within a transaction. */
  #check({ key, encodedKey }: Step): Attributes | undefined {
    const name = nameOf(encodedKey);
    const known = this.#checked.get(name);
    if (known !== undefined || this.#checked.has(name)) return known;
    const stored = this.#stored(encodedKey);
    const item = stored && decode(key, encodedKey, stored);
    this.#checked.set(name, item);
    return item;
  }

  /** Returns the stored bytes of an item, within a transaction, which may keep them. @throws ItemDamaged if it only seems missing */
  #stored(encodedKey: Buffer): Buffer | undefined {
    const stored = this.#items.getBinary(encodedKey);
    if (stored === undefined) this.#boundaries.verifyMissing(encodedKey);
    return stored;
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

/** Returns an encoded key as a string. */
function nameOf(encodedKey: Buffer): string {
  return encodedKey.toString('latin1');
}

/** Decodes a stored item. @throws ItemDamaged, which names it */
function decode(key: ItemKey, encodedKey: Buffer, stored: Buffer, wanted?: ReadonlySet<string>): Attributes {
  return reading(key, () => decodeItem(unseal(encodedKey, stored), wanted));
}

/** Reads an item. @throws ItemDamaged, which names it */
function reading<T>(key: ItemKey, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof ItemDamaged ? error.of(key) : error;
  }
}

/**
 * Reads items in the engine's memory without a copy: they are valid only until the next read and are decoded at once.
 * Items are written as bytes because they are also logged.
 */
const itemFormat: DatabaseOptions & RootDatabaseOptions = {
  keyEncoding: 'binary',
  encoder: {
    encode: (bytes: Buffer): Buffer => bytes,
    decode: (bytes: Buffer): Buffer => bytes,
  },
};
