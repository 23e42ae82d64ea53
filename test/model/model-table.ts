import { holds, TableBusy } from '../../shared/ports/key-value-table.ts';
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
} from '../../shared/ports/key-value-table.ts';
import { settle, type Actor, type Footprint, type Spot, type Step, type Way } from './actor.ts';
import { added, chained, hashOf, hashOfValue, nothing, removed, type Hash } from './fingerprint.ts';

/** Called for a write that was applied, with the changes, the writer, and the previous items. */
export type WriteObserver = (
  changes: readonly Change[],
  by: string,
  before: (key: ItemKey) => Attributes | undefined,
) => void;

/** An item that was changed but is not visible yet. */
interface Hidden {
  readonly key: ItemKey;
  readonly old: Attributes | undefined;
  /** The number of reads that still return the old item: a transaction's items become visible within a short time. */
  left: number;
}

const mostStaleReads = 3;

/**
 * The items of a model, as seen by writers and by plain reads. A transaction is atomic for writers, but its items may become visible to
 * plain reads one after the other, as DynamoDB's read-committed isolation allows.
 */
export class ModelTable {
  readonly partitions: Map<string, Map<string, Attributes>>;
  readonly log: FeedRecord[] = [];
  /** Items changed by a transaction whose old image plain reads still return. */
  readonly #hidden = new Map<string, Hidden>();
  #hash: Hash;
  #logHash: Hash = nothing;
  /** Called after every write that changed something. */
  observe: WriteObserver = () => undefined;

  constructor(from?: ModelTable) {
    this.partitions = new Map([...(from?.partitions ?? [])].map(([pk, items]) => [pk, new Map(items)]));
    this.#hash = from === undefined ? nothing : from.#hash;
  }

  /** Returns the item as writers and transactions see it. */
  truth({ pk, sk }: ItemKey): Attributes | undefined {
    return this.partitions.get(pk)?.get(sk);
  }

  /** Returns the item as a plain read sees it. */
  shown(key: ItemKey): Attributes | undefined {
    const hidden = this.#hidden.get(nameOf(key));
    if (hidden === undefined) return this.truth(key);
    hidden.left -= 1;
    if (hidden.left === 0) this.#hidden.delete(nameOf(key));
    return hidden.old;
  }

  query(pk: string, { from, after, prefix = '', limit, reverse = false }: QueryOptions = {}): QueryPage {
    const keys = new Set(this.partitions.get(pk)?.keys());
    for (const { key } of this.#hidden.values()) if (key.pk === pk) keys.add(key.sk);
    const wanted = [...keys].filter(
      (sk) =>
        sk.startsWith(prefix) &&
        (from === undefined || compare(sk, from) >= 0) &&
        (after === undefined || (reverse ? compare(sk, after) < 0 : compare(sk, after) > 0)),
    );
    wanted.sort(reverse ? (a, b) => compare(b, a) : compare);
    const items: Item[] = wanted.flatMap((sk) => {
      const attributes = this.shown({ pk, sk });
      return attributes ? [{ key: { pk, sk }, attributes }] : [];
    });
    return limit !== undefined && items.length > limit
      ? { items: items.slice(0, limit), more: true }
      : { items, more: false };
  }

  /** Returns the keys whose expectations fail. */
  failures(changes: readonly Change[], conditions: readonly Condition[]): readonly ItemKey[] {
    const failing = [...changes, ...conditions].filter(
      ({ key, expect }) => expect !== undefined && !holds(expect, this.truth(key)),
    );
    return failing.map(({ key }) => key);
  }

  /** Applies a write whose expectations hold. Items in `late` remain visible with their old image. */
  apply(changes: readonly Change[], by: string, late: ReadonlySet<ItemKey> = new Set()): void {
    const before = new Map<string, Attributes | undefined>();
    for (const change of changes) {
      const { key } = change;
      const old = this.truth(key);
      before.set(nameOf(key), old);
      const present = 'put' in change ? change.put : undefined;
      if (late.has(key)) this.#hidden.set(nameOf(key), { key, old, left: mostStaleReads });
      this.#set(key, old, present);
      if (old === undefined && present === undefined) continue;
      const record = { shardId: 'shard-1', position: String(this.log.length + 1), at: 0, key, old, new: present };
      this.log.push(record);
      const images = chained(hashOfValue(old), hashOfValue(present));
      this.#logHash = added(this.#logHash, chained(hashOf(nameOf(key)), images));
    }
    this.observe(changes, by, (key) => before.get(nameOf(key)));
  }

  /** Makes items visible. Transactions and conditional writes do so, because they wait for the transaction in progress on an item. */
  show(keys: Iterable<ItemKey>): void {
    for (const key of keys) this.#hidden.delete(nameOf(key));
  }

  /** Puts an item that no repository would write: damage for a scrub to find. */
  force(key: ItemKey, attributes: Attributes | undefined): void {
    this.#set(key, this.truth(key), attributes);
  }

  /** Returns the result of a scan without concurrent writes. */
  *scan({ prefixes = [''] }: ScanOptions = {}): Iterable<Item> {
    for (const item of this.items()) if (prefixes.some((prefix) => item.key.pk.startsWith(prefix))) yield item;
  }

  /** Yields all items, in no particular order. */
  *items(): Iterable<Item> {
    for (const [pk, items] of this.partitions) {
      for (const [sk, attributes] of items) yield { key: { pk, sk }, attributes };
    }
  }

  /** Whether a read of these items changes which of them are hidden. */
  isHidden({ pk, sk }: Spot): boolean {
    for (const { key } of this.#hidden.values()) if (key.pk === pk && (sk === undefined || key.sk === sk)) return true;
    return false;
  }

  get hash(): Hash {
    let hidden = nothing;
    for (const [name, { old, left }] of this.#hidden) {
      hidden = added(hidden, chained(hashOf(`${name} ${left}`), hashOfValue(old)));
    }
    return chained(chained(this.#hash, this.#logHash), hidden);
  }

  #set(key: ItemKey, old: Attributes | undefined, present: Attributes | undefined): void {
    const name = hashOf(nameOf(key));
    if (old) this.#hash = removed(this.#hash, chained(name, hashOfValue(old)));
    if (present) this.#hash = added(this.#hash, chained(name, hashOfValue(present)));
    const items = this.partitions.get(key.pk) ?? new Map<string, Attributes>();
    if (present) items.set(key.sk, present);
    else items.delete(key.sk);
    this.partitions.set(key.pk, items);
  }
}

/** The settings of an {@link ActorTable}. */
export interface TableRules {
  readonly freeChecks: boolean;
  /** Whether the items of a transaction become visible to plain reads one after the other. */
  readonly apart: boolean;
  /** Whether others need not run at an access: partitions that only one actor uses, or items under ids that no other actor knows yet. */
  readonly quiet: (spot: Spot) => boolean;
}

/** A write whose caller no longer waits: it may be applied later, or never. */
export interface LateWrite {
  readonly by: string;
  readonly changes: readonly Change[];
  readonly conditions: readonly Condition[];
}

/** A read of this item precedes a read of the feed, and so conflicts with every write. */
export const feedSpot: ItemKey = { pk: 'feed', sk: '-' };

/** The table of one actor: every access waits until the scheduler chooses one of its outcomes. */
export class ActorTable implements KeyValueTable {
  readonly freeChecks: boolean;
  readonly #table: ModelTable;
  readonly #actor: Actor;
  readonly #rules: TableRules;
  readonly #now: () => number;
  readonly #late: LateWrite[];

  constructor(table: ModelTable, actor: Actor, rules: TableRules, now: () => number, late: LateWrite[]) {
    this.#table = table;
    this.#actor = actor;
    this.#rules = rules;
    this.#now = now;
    this.#late = late;
    this.freeChecks = rules.freeChecks;
  }

  get(key: ItemKey): Promise<Attributes | undefined> {
    return this.#read(
      () => `get ${nameOf(key)}`,
      [key],
      () => this.#table.shown(key),
    );
  }

  getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    const label = (): string => `getTogether ${keys.map(nameOf).join(' ')}`;
    return this.#read(label, keys, () => {
      this.#table.show(keys);
      return keys.map((key) => this.#table.truth(key));
    });
  }

  query(pk: string, options: QueryOptions = {}): Promise<QueryPage> {
    return this.#read(
      () => `query ${pk}`,
      [{ pk }],
      () => this.#table.query(pk, options),
    );
  }

  /** In one step: no actor scans the table while others run. */
  async *scan(options?: ScanOptions): AsyncIterable<Item> {
    yield* this.#table.scan(options);
  }

  write(changes: readonly Change[], conditions: readonly Condition[] = []): Promise<WriteOutcome> {
    const keys = [...changes, ...conditions].map(({ key }) => key);
    const label = (): string => `write ${keys.map(nameOf).join(' ')}`;
    const footprint = (): Footprint => ({
      reads: conditions.map(({ key }) => key),
      writes: changes.map(({ key }) => key),
    });
    return this.#step(label, keys, footprint, (answer, fail, begin) => {
      const failed = this.#table.failures(changes, conditions);
      const outcome: WriteOutcome =
        failed.length > 0
          ? { outcome: 'conflict', failed: failed.map((key) => ({ key, item: this.#table.truth(key) })) }
          : { outcome: 'written', old: this.#oldOf(changes, conditions) };
      const meet = (): void => this.#table.show(keys);
      const unknown = (name: string, before: () => void): Way => ({
        name,
        costs: 'lost',
        take: () => {
          before();
          answer({ outcome: 'unknown' });
        },
      });
      const apply = (late: readonly ItemKey[] = []): void => {
        meet();
        this.#table.apply(changes, this.#actor.name, new Set(late));
      };
      const busy: Way = { name: ' (busy)', costs: 'busy', take: () => fail(new TableBusy()) };
      if (failed.length > 0) {
        return [
          { name: ' (conflict)', take: () => (meet(), answer(outcome)) },
          unknown(' (no answer)', () => undefined),
          busy,
        ];
      }
      const late = (): void => void this.#late.push({ by: this.#actor.name, changes, conditions });
      return [
        ...this.#orders(changes).map((shownLater): Way => {
          if (shownLater.length === 0) return { name: '', take: () => (apply(), answer(outcome)) };
          return {
            name: `, showing ${shownLater.map(nameOf).join(' ')} later`,
            take: () => (begin(), apply(shownLater), this.#showLater(shownLater, () => answer(outcome))),
          };
        }),
        { name: ', then crashes', costs: 'crash', take: () => (apply(), this.#crash()) },
        unknown(' (done, no answer)', apply),
        unknown(' (not done, no answer)', () => undefined),
        unknown(' (no answer, may arrive later)', late),
        busy,
      ];
    });
  }

  async close(): Promise<void> {
    // Nothing to close.
  }

  /** Returns the sets of items of a write that may become visible later than the others: none, or any one, or all but one. */
  #orders(changes: readonly Change[]): readonly (readonly ItemKey[])[] {
    const keys = changes.filter(({ key }) => !this.#rules.quiet(key)).map(({ key }) => key);
    if (!this.#rules.apart || keys.length < 2) return [[]];
    const oneLater = keys.map((key) => [key]);
    return keys.length === 2 ? oneLater : [...oneLater, ...keys.map((first) => keys.filter((key) => key !== first))];
  }

  #showLater(keys: readonly ItemKey[], then: () => void): void {
    const step: Step = {
      number: this.#actor.ask(),
      footprint: () => ({ reads: [], writes: keys }),
      label: () => `${this.#actor.name}: ${keys.map(nameOf).join(' ')} shown`,
      since: this.#now(),
      ways: () => [
        {
          name: '',
          take: () =>
            settle(this.#actor, step, () => {
              this.#table.show(keys);
              then();
            }),
        },
      ],
    };
    this.#actor.waiting.push(step);
  }

  #crash(): void {
    this.#actor.crashed = true;
    this.#actor.waiting.length = 0;
  }

  #oldOf(changes: readonly Change[], conditions: readonly Condition[]): readonly (Attributes | undefined)[] {
    return changes.length === 1 && conditions.length === 0 ? [this.#table.truth(changes[0]!.key)] : [];
  }

  #read<Answer>(label: () => string, spots: readonly Spot[], look: () => Answer): Promise<Answer> {
    const footprint = (): Footprint | undefined => {
      if (spots.some(({ pk }) => pk === feedSpot.pk)) return undefined;
      const used = spots.filter((spot) => this.#table.isHidden(spot));
      return { reads: spots, writes: used };
    };
    return this.#step(label, spots, footprint, (answer, fail) => [
      { name: '', take: () => answer(look()) },
      { name: ' (busy)', costs: 'busy', take: () => fail(new TableBusy()) },
    ]);
  }

  #step<Answer>(
    label: () => string,
    spots: readonly Spot[],
    footprint: Step['footprint'],
    waysOf: (answer: (value: Answer) => void, fail: (error: Error) => void, begin: () => void) => readonly Way[],
  ): Promise<Answer> {
    const number = this.#actor.ask();
    return new Promise<Answer>((resolve, reject) => {
      const step: Step = {
        number,
        footprint,
        label: () => `${this.#actor.name}: ${label()}`,
        since: this.#now(),
        ways: () => waysOf(end(resolve), end(reject), begin),
      };
      const begin = (): void => settle(this.#actor, step, () => undefined);
      const end =
        <Value>(settlePromise: (value: Value) => void) =>
        (value: Value): void => {
          this.#actor.see(number, value instanceof Error ? value.name : value);
          if (this.#actor.waiting.includes(step)) settle(this.#actor, step, () => settlePromise(value));
          else settlePromise(value);
        };
      this.#actor.waiting.push(step);
      if (!spots.every((spot) => this.#rules.quiet(spot))) return;
      this.#actor.waiting.pop();
      step.ways()[0]!.take();
    });
  }
}

/** The table without a scheduler: for the work before and after a run. */
export class DirectTable implements KeyValueTable {
  readonly freeChecks = true;
  /** The name of the writer. */
  by: string;
  readonly #table: ModelTable;

  constructor(table: ModelTable, by: string) {
    this.#table = table;
    this.by = by;
  }

  async get(key: ItemKey): Promise<Attributes | undefined> {
    return this.#table.shown(key);
  }

  async getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    return keys.map((key) => this.#table.truth(key));
  }

  async query(pk: string, options: QueryOptions = {}): Promise<QueryPage> {
    return this.#table.query(pk, options);
  }

  async *scan(options?: ScanOptions): AsyncIterable<Item> {
    yield* this.#table.scan(options);
  }

  async write(changes: readonly Change[], conditions: readonly Condition[] = []): Promise<WriteOutcome> {
    const failed = this.#table.failures(changes, conditions);
    if (failed.length > 0) {
      return { outcome: 'conflict', failed: failed.map((key) => ({ key, item: this.#table.truth(key) })) };
    }
    this.#table.apply(changes, this.by);
    return { outcome: 'written', old: [] };
  }

  async close(): Promise<void> {
    // Nothing to close.
  }
}

function nameOf({ pk, sk }: ItemKey): string {
  return `${pk} ${sk}`;
}

function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
