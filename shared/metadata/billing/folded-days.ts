import type { Change, KeyValueTable } from '../../ports/key-value-table.ts';
import { partitionItems } from '../partition-items.ts';
import { dayOf } from './days.ts';
import { billingKey, billingPartition } from './items.ts';
import { addDays, beginDay, decodeDay, encodeDay, stepOn, type Holding, type StorageDay } from './storage-day.ts';

/** The days of one lane, in order. */
type Days = ReadonlyMap<string, StorageDay>;

const nothing: Holding = { bytes: 0, objects: 0 };

/** The bill of what a bucket holds, while the days of lanes are added to those of its base. It writes nothing itself. */
export class FoldedDays {
  readonly #keyOf: (lane: string, day: string) => Change['key'];
  readonly #baseLane: string;
  readonly #lanes: ReadonlyMap<string, Days>;
  /** What the base held before the first of its days here. */
  readonly #before: Holding;
  readonly #base: Map<string, StorageDay>;
  readonly #changed = new Set<string>();
  readonly #folded: string[] = [];

  private constructor(parts: {
    keyOf: (lane: string, day: string) => Change['key'];
    baseLane: string;
    lanes: ReadonlyMap<string, Days>;
    before: Holding;
    base: Days;
  }) {
    this.#keyOf = parts.keyOf;
    this.#baseLane = parts.baseLane;
    this.#lanes = parts.lanes;
    this.#before = parts.before;
    this.#base = new Map(parts.base);
  }

  /** Reads the days of some lanes, and those of the base from the first of them on. */
  static async read(
    table: KeyValueTable,
    { project, bucketId }: { readonly project: string; readonly bucketId: string },
    baseLane: string,
    names: readonly string[],
  ): Promise<FoldedDays> {
    const pk = billingPartition.storage(project);
    const keyOf = (lane: string, day: string): Change['key'] => billingKey.storage(project, bucketId, lane, day);
    const daysOf = async (lane: string, from = ''): Promise<Days> => {
      const days = new Map<string, StorageDay>();
      const prefix = keyOf(lane, '').sk;
      for await (const { key, attributes } of partitionItems(table, pk, { prefix, from: prefix + from })) {
        days.set(key.sk.slice(prefix.length), decodeDay(attributes));
      }
      return days;
    };
    const lanes = new Map<string, Days>();
    for (const lane of names) lanes.set(lane, await daysOf(lane));
    const first = [...lanes.values()].flatMap((days) => [...days.keys()].slice(0, 1)).sort()[0];
    if (first === undefined) return new FoldedDays({ keyOf, baseLane, lanes, before: nothing, base: new Map() });
    const earlier = { prefix: keyOf(baseLane, '').sk, reverse: true, after: keyOf(baseLane, first).sk, limit: 1 };
    const [latest] = (await table.query(pk, earlier)).items;
    const before = latest ? decodeDay(latest.attributes) : nothing;
    return new FoldedDays({ keyOf, baseLane, lanes, before, base: await daysOf(baseLane, first) });
  }

  /** How many changes there would be with one more lane. */
  sizeWith(lane: string): number {
    const days = [...this.#lanes.get(lane)!.keys()];
    const touched = new Set([...this.#changed, ...days, ...[...this.#base.keys()].filter((day) => day >= days[0]!)]);
    // One more, if counters were corrected.
    return touched.size + 1 + [...this.#folded, lane].reduce((sum, one) => sum + this.#lanes.get(one)!.size, 0);
  }

  /** Adds the days of a lane to the base. What it held last it goes on holding, through all later days. */
  fold(lane: string): void {
    this.#folded.push(lane);
    const own = this.#lanes.get(lane)!;
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

  /** Goes on from what the counters say, which a scrub may have corrected. */
  settle(now: number, holding: Holding): void {
    const day = dayOf(now);
    const held = this.#base.get(day) ?? beginDay(day, this.#heldBefore(day));
    const step = { at: now, bytes: holding.bytes - held.bytes, objects: holding.objects - held.objects };
    if (step.bytes !== 0 || step.objects !== 0) this.#set(day, stepOn(held, step));
  }

  /** What must be written, in one write with the counters. */
  changes(): readonly Change[] {
    return [
      ...[...this.#changed].map((day) => ({
        key: this.#keyOf(this.#baseLane, day),
        put: encodeDay(this.#base.get(day)!),
      })),
      ...this.#folded.flatMap((lane) =>
        [...this.#lanes.get(lane)!.keys()].map((day) => ({ key: this.#keyOf(lane, day), delete: true as const })),
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
