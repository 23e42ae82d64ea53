import type { Database, DatabaseOptions, RootDatabaseOptions } from 'lmdb';
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
import { FeedLog } from './feed-log.ts';
import { CommitUnknown } from './group-commit.ts';
import { decodeItem } from './item-encoding.ts';
import { decodeItemKey, decodeSortKey, encodeItemKey, rangeOf, rangesOf } from './item-key.ts';
import { LmdbEnvironment } from './lmdb-environment.ts';
import { stepsOf } from './write-steps.ts';
import type { Step } from './write-steps.ts';

export interface LmdbTableOptions {
  /** Whether the feed tells of an item. Default: of every item. What nobody follows need not be written twice. */
  readonly isFollowed?: (key: ItemKey) => boolean;
  /** Commits for this process, if another one does. Its commits are seen by reads as soon as they are answered. */
  readonly commits?: Commits;
}

/** Whatever carries out writes: the table itself, or the process that commits for all. */
export interface Commits {
  /**
   * Carries out the first so many of the steps if all of them find what they expect.
   * @throws TableBusy if nothing was written
   */
  commit(steps: readonly Step[], changes: number): Promise<WriteOutcome>;
}

/** What finding and decoding an item takes. */
function stepsToRead(value: Buffer): number {
  return 8 + value.length / 125;
}

/** A page ends here at the latest. */
const maxItemsOfPage = 2000;
const maxBytesOfPage = 1024 * 1024;
/** A trim takes the oldest records in steps of so many, so that writers are not kept waiting. */
const trimStep = 1000;

/**
 * The table on one machine: databases of an LMDB environment. Reads are a memory look-up and see the newest commit, also that of another process.
 * A write resolves once it is on disk, and is not visible before.
 */
export class LmdbTable implements KeyValueTable, ChangeFeed, Commits {
  readonly freeChecks = true;
  readonly #environment: LmdbEnvironment;
  readonly #items: Database<Buffer, Buffer>;
  readonly #log: FeedLog;
  readonly #isFollowed: (key: ItemKey) => boolean;
  readonly #commits: Commits;
  readonly #listeners = new Set<() => void>();
  #calling = false;

  constructor(environment: LmdbEnvironment, { isFollowed = () => true, commits }: LmdbTableOptions = {}) {
    this.#environment = environment;
    this.#items = environment.database('items', itemFormat);
    this.#log = new FeedLog(environment);
    this.#isFollowed = isFollowed;
    this.#commits = commits ?? this;
  }

  /** Opens a table in an environment of its own. */
  static async open(directory: string, options: LmdbTableOptions = {}): Promise<LmdbTable> {
    return new LmdbTable(await LmdbEnvironment.open(directory), options);
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
    const { start, end } = rangeOf(pk, options);
    const range = options.reverse
      ? { start: end, exclusiveStart: true, end: start, inclusiveEnd: true, reverse: true }
      : { start, end };
    const items: Item[] = [];
    const budget = new EventLoopBudget();
    let bytes = 0;
    for (let last: Buffer | undefined, more = true; more;) {
      const rest = last === undefined ? range : { ...range, start: last, exclusiveStart: true };
      let steps = 0;
      more = false;
      // One turn reads so much in one go: what the engine gives is good until the next read.
      for (const { key, value } of this.#items.getRange({ ...rest, limit: most + 1 - items.length })) {
        if (items.length === most || bytes > maxBytesOfPage) return { items, more: true };
        items.push({ key: { pk, sk: decodeSortKey(key, pk) }, attributes: decodeItem(value, options.attributes) });
        bytes += value.length;
        steps += stepsToRead(value);
        if (steps < stepsPerTurn) continue;
        last = Buffer.from(key);
        more = true;
        break;
      }
      if (!more) break;
      await budget.spend(steps);
      this.#environment.look();
    }
    return { items, more: false };
  }

  /** Page by page: a snapshot that stays open keeps the engine from using freed space again. */
  async *scan({ prefixes = [''] }: ScanOptions = {}): AsyncIterable<Item> {
    for (const range of rangesOf(prefixes)) {
      for (let start: Buffer | undefined = range.start; start !== undefined;) {
        this.#environment.look();
        const page: Item[] = [];
        let bytes = 0;
        let next: Buffer | undefined;
        for (const { key, value } of this.#items.getRange({ start, end: range.end, limit: maxItemsOfPage + 1 })) {
          if (page.length === maxItemsOfPage || bytes > maxBytesOfPage) {
            next = Buffer.from(key);
            break;
          }
          page.push({ key: decodeItemKey(key), attributes: decodeItem(value) });
          bytes += value.length;
        }
        yield* page;
        start = next;
      }
    }
  }

  async write(changes: readonly Change[], conditions: readonly Condition[] = []): Promise<WriteOutcome> {
    return this.#commits.commit(stepsOf(changes, conditions), changes.length);
  }

  async commit(steps: readonly Step[], changes: number): Promise<WriteOutcome> {
    try {
      const outcome = await this.#environment.run(() => this.#apply(steps, changes));
      const isFollowed = steps.slice(0, changes).some(({ key }) => this.#isFollowed(key));
      if (outcome.outcome === 'written' && isFollowed) this.#callListeners();
      return outcome;
    } catch (error) {
      if (error instanceof CommitUnknown) return { outcome: 'unknown' };
      throw error;
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

  subscribe(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Closes the environment, once the writes under way have ended. */
  close(): Promise<void> {
    return this.#environment.close();
  }

  #item(key: ItemKey): Attributes | undefined {
    const bytes = this.#items.get(encodeItemKey(key));
    return bytes && decodeItem(bytes);
  }

  /** Within a transaction. Nothing is put before every expectation was looked at. */
  #apply(steps: readonly Step[], changes: number): WriteOutcome {
    const found = steps.map((step) => this.#items.getBinary(step.encodedKey));
    const items = found.map((bytes) => bytes && decodeItem(bytes));
    const failed = steps.flatMap(({ key, expectations }, index) =>
      expectations.every((expectation) => holds(expectation, items[index])) ? [] : [{ key, item: items[index] }],
    );
    if (failed.length > 0) return { outcome: 'conflict', failed };

    for (const [index, { key, encodedKey, value }] of steps.slice(0, changes).entries()) {
      const old = found[index];
      if (old === undefined && value === undefined) continue;
      void (value ? this.#items.put(encodedKey, value) : this.#items.remove(encodedKey));
      if (this.#isFollowed(key)) this.#log.append(key, old, value);
    }
    return { outcome: 'written', old: items.slice(0, changes) };
  }

  /** Once for all writes of one turn of the event loop. */
  #callListeners(): void {
    if (this.#calling) return;
    this.#calling = true;
    setImmediate(() => {
      this.#calling = false;
      for (const listener of this.#listeners) listener();
    });
  }
}

/**
 * Items are read where the engine keeps them, without a copy: what it gives is good until the next read, and is decoded at once. They
 * are handed to it as bytes because what is put is also logged.
 */
const itemFormat: DatabaseOptions & RootDatabaseOptions = {
  keyEncoding: 'binary',
  encoder: {
    encode: (bytes: Buffer): Buffer => bytes,
    decode: (bytes: Buffer): Buffer => bytes,
  },
};
