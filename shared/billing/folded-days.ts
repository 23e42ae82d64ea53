import type { Change, KeyValueTable } from '../ports/key-value-table.ts';
import { partitionItems } from '../storage/table/pages.ts';
import { dayOf } from '../storage/table/keys/days.ts';
import { billingKey, billingKeyParts, billingPartition } from '../storage/table/keys/billing-keys.ts';
import { addDays, beginDay, decodeDay, encodeDay, stepOn, type Holding, type StorageDay } from './storage-day.ts';

/** The days of one shard, in order. */
type Days = ReadonlyMap<string, StorageDay>;

const nothing: Holding = { bytes: 0, objects: 0 };

/** A bucket's storage days, while those of shards are added to those of the base. It writes nothing itself. */
export class FoldedDays {
  readonly #keyOf: (shard: string, day: string) => Change['key'];
  readonly #baseShard: string;
  readonly #shards: ReadonlyMap<string, Days>;
  /** The contents of the base before the first of its days here. */
  readonly #before: Holding;
  readonly #base: Map<string, StorageDay>;
  readonly #changed = new Set<string>();
  readonly #folded: string[] = [];

  private constructor(parts: {
    keyOf: (shard: string, day: string) => Change['key'];
    baseShard: string;
    shards: ReadonlyMap<string, Days>;
    before: Holding;
    base: Days;
  }) {
    this.#keyOf = parts.keyOf;
    this.#baseShard = parts.baseShard;
    this.#shards = parts.shards;
    this.#before = parts.before;
    this.#base = new Map(parts.base);
  }

  /** Reads the days of the given shards, and the base's days from the first of them on. */
  static async read(
    table: KeyValueTable,
    { project, bucketId }: { readonly project: string; readonly bucketId: string },
    baseShard: string,
    names: readonly string[],
  ): Promise<FoldedDays> {
    const pk = billingPartition.storage(project);
    const keyOf = (shard: string, day: string): Change['key'] => billingKey.storage(project, bucketId, shard, day);
    const daysOf = async (shard: string, from = ''): Promise<Days> => {
      const days = new Map<string, StorageDay>();
      const prefix = keyOf(shard, '').sk;
      for await (const { key, attributes } of partitionItems(table, pk, { prefix, from: prefix + from })) {
        days.set(billingKeyParts.storage(key).day, decodeDay(attributes));
      }
      return days;
    };
    const shards = new Map<string, Days>();
    for (const shard of names) shards.set(shard, await daysOf(shard));
    const first = [...shards.values()].flatMap((days) => [...days.keys()].slice(0, 1)).sort()[0];
    if (first === undefined) return new FoldedDays({ keyOf, baseShard, shards, before: nothing, base: new Map() });
    const earlier = { prefix: keyOf(baseShard, '').sk, reverse: true, after: keyOf(baseShard, first).sk, limit: 1 };
    const [latest] = (await table.query(pk, earlier)).items;
    const before = latest ? decodeDay(latest.attributes) : nothing;
    return new FoldedDays({ keyOf, baseShard, shards, before, base: await daysOf(baseShard, first) });
  }

  /** Returns the number of changes if one more shard were folded. */
  sizeWith(shard: string): number {
    const days = [...this.#shards.get(shard)!.keys()];
    const touched = new Set([...this.#changed, ...days, ...[...this.#base.keys()].filter((day) => day >= days[0]!)]);
    // One more, in case the counters were corrected.
    return touched.size + 1 + [...this.#folded, shard].reduce((sum, one) => sum + this.#shards.get(one)!.size, 0);
  }

  /** Adds the days of a shard to the base. What the shard held last counts for all later days too. */
  fold(shard: string): void {
    this.#folded.push(shard);
    const own = this.#shards.get(shard)!;
    const [first] = own.keys();
    if (first === undefined) return;
    let held = this.#heldBefore(first);
    let added = nothing;
    for (const day of [...new Set([...own.keys(), ...this.#base.keys()])].sort()) {
      if (day < first) continue;
      const base = this.#base.get(day) ?? beginDay(day, held);
      const more = own.get(day) ?? beginDay(day, added);
      this.#set(day, addDays(base, more));
      [held, added] = [base, more];
    }
  }

  /** Continues from the counters, which a scrub may have corrected. */
  settle(now: number, holding: Holding): void {
    const day = dayOf(now);
    const held = this.#base.get(day) ?? beginDay(day, this.#heldBefore(day));
    const step = { at: now, bytes: holding.bytes - held.bytes, objects: holding.objects - held.objects };
    if (step.bytes !== 0 || step.objects !== 0) this.#set(day, stepOn(held, step));
  }

  /** Returns the changes to write together with the counters. */
  changes(): readonly Change[] {
    return [
      ...[...this.#changed].map((day) => ({
        key: this.#keyOf(this.#baseShard, day),
        put: encodeDay(this.#base.get(day)!),
      })),
      ...this.#folded.flatMap((shard) =>
        [...this.#shards.get(shard)!.keys()].map((day) => ({ key: this.#keyOf(shard, day), delete: true as const })),
      ),
    ];
  }

  #heldBefore(day: string): Holding {
    const earlier = [...this.#base.keys()].filter((one) => one < day).sort();
    const latest = earlier.at(-1);
    return latest === undefined ? this.#before : this.#base.get(latest)!;
  }

  #set(day: string, held: StorageDay): void {
    this.#base.set(day, held);
    this.#changed.add(day);
  }
}
