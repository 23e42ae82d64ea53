import type { Clock } from '../../ports/clock.ts';
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
  RecentItem,
  ScanOptions,
  WriteOptions,
  WriteOutcome,
} from '../../ports/key-value-table.ts';

/** The number of items at which all are forgotten. */
const mostRemembered = 10_000;

interface Remembered {
  readonly item: Promise<Attributes | undefined>;
  readonly readAt: number;
}

/**
 * A table that a process reaches by round trips, and that others write as well. It remembers for {@link recent} what it has read, and forgets what
 * this process writes. Every write of the process must therefore go through it. That an item is absent is not remembered: it may have been
 * created through another process, by the client that now asks for it.
 */
export class RecentTable implements KeyValueTable, ChangeFeed {
  readonly freeChecks: boolean;
  readonly #table: KeyValueTable & ChangeFeed;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #remembered = new Map<string, Remembered>();

  /** @param table its conditions on other items must be free: they are what makes a commit exact that relies on something remembered */
  constructor(table: KeyValueTable & ChangeFeed & Partial<ForeignChanges>, clock: Pick<Clock, 'now'>) {
    if (!table.freeChecks) throw new Error('what is remembered is of use only where a commit can check it');
    this.freeChecks = table.freeChecks;
    this.#table = table;
    this.#clock = clock;
    table.onForeignChange?.((keys) => (keys ? this.#forget(keys.map((key) => ({ key }))) : this.#remembered.clear()));
  }

  async recent(key: ItemKey, within: number): Promise<RecentItem> {
    const name = nameOf(key);
    const readAt = this.#clock.now();
    const known = this.#remembered.get(name);
    // A clock that was set back does not extend the time.
    if (known && Math.abs(readAt - known.readAt) < within) {
      const item = await known.item;
      if (item !== undefined) return { item, readAt: known.readAt };
    }
    const read = { item: this.#table.get(key), readAt };
    if (this.#remembered.size >= mostRemembered) this.#remembered.clear();
    this.#remembered.set(name, read);
    const forget = (): void => {
      if (this.#remembered.get(name) === read) this.#remembered.delete(name);
    };
    read.item.then((item) => item ?? forget(), forget);
    return { item: await read.item, readAt };
  }

  async write(
    changes: readonly Change[],
    conditions?: readonly Condition[],
    options?: WriteOptions,
  ): Promise<WriteOutcome> {
    // Before and after: a read that began in between may have found either.
    this.#forget(changes);
    try {
      const outcome = await this.#table.write(changes, conditions, options);
      // Another process has changed them.
      if (outcome.outcome === 'conflict') this.#forget(outcome.failed);
      return outcome;
    } finally {
      this.#forget(changes);
    }
  }

  get(key: ItemKey): Promise<Attributes | undefined> {
    return this.#table.get(key);
  }

  getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    return this.#table.getTogether(keys);
  }

  query(pk: string, options?: QueryOptions): Promise<QueryPage> {
    return this.#table.query(pk, options);
  }

  scan(options?: ScanOptions): AsyncIterable<Item> {
    return this.#table.scan(options);
  }

  read(after: string | undefined, limit: number): Promise<readonly FeedRecord[]> {
    return this.#table.read(after, limit);
  }

  newest(): string | undefined {
    return this.#table.newest();
  }

  trim(upTo: string): Promise<void> {
    return this.#table.trim(upTo);
  }

  subscribe(listener: () => void): () => void {
    return this.#table.subscribe(listener);
  }

  close(): Promise<void> {
    return this.#table.close();
  }

  #forget(items: readonly { readonly key: ItemKey }[]): void {
    for (const { key } of items) this.#remembered.delete(nameOf(key));
  }
}

/**
 * Returns an item as it was at most `within` milliseconds ago if the table remembers items, otherwise as it is.
 * @param within 0: as it is, to be remembered from now on
 */
export async function recently(table: KeyValueTable, key: ItemKey, within: number): Promise<Attributes | undefined> {
  return table.recent === undefined ? table.get(key) : (await table.recent(key, within)).item;
}

function nameOf({ pk, sk }: ItemKey): string {
  return `${pk}\n${sk}`;
}
