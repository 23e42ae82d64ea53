import { applyLifecycle, type LifecycleOptions } from '../../shared/lifecycle/apply-lifecycle.ts';
import { realDays } from '../../shared/lifecycle/lifecycle.ts';
import { day, LifecycleWorld } from '../unit/lifecycle/lifecycle-deps.ts';
import { Meter, MeteredTable, type Cost } from './metered.ts';

/** The measured costs of lifecycle passes. */
export interface MeasuredPasses {
  /** Checking a thousand more current versions of 60 bytes of key, of which none is due. */
  readonly thousand: Cost;
  /** The same with 350 bytes of metadata each. */
  readonly thousandLarge: Cost;
  /** A pass over a bucket that leaves out its one range. */
  readonly leftOut: Cost;
  /**
   * The part of all keys that a pass checks on average, where keys begin with their date, as many are written every day,
   * and they expire after a hundred days.
   */
  readonly dated: number;
}

/** 60 bytes, as in the scenarios. */
const keyOf = (number: number): string =>
  `reports/2026/11/21/region-1/warehouse-07/shelf-04/it-${String(number).padStart(6, '0')}`;

/**
 * Runs the pass of the next day.
 * @returns the number of keys that it checked, and its cost
 */
async function nextDay(
  world: LifecycleWorld,
  meter: Meter,
  options: Pick<LifecycleOptions, 'bounds'> = {},
): Promise<{ readonly keys: number; readonly cost: Cost }> {
  world.clock.time = (Math.floor(world.clock.time / day) + 1) * day + 60_000;
  meter.take();
  const { pass } = await applyLifecycle(world.deps, { calendar: realDays, workers: 1, ...options });
  return { keys: pass.tally.keys, cost: meter.take() };
}

/** A bucket whose objects expire after some days, in a deployment whose passes skip ranges. */
async function bucketWith(days: number): Promise<{ readonly world: LifecycleWorld; readonly meter: Meter }> {
  const meter = new Meter();
  const world = await LifecycleWorld.create({ table: new MeteredTable(meter) });
  await world.setRules({ expiration: { days } });
  // Ranges are left out from the second day on.
  await nextDay(world, meter);
  return { world, meter };
}

async function perThousand(metadataBytes: number): Promise<{ readonly thousand: Cost; readonly leftOut: Cost }> {
  const { world, meter } = await bucketWith(365);
  const costs: Cost[] = [];
  const left: Cost[] = [];
  for (let thousands = 1; thousands <= 3; thousands += 1) {
    for (let number = 0; number < 1000; number += 1)
      await world.put(keyOf(1000 * thousands + number), { metadataBytes });
    costs.push((await nextDay(world, meter)).cost);
    left.push((await nextDay(world, meter)).cost);
    // The range is checked once a month.
    world.clock.time += 31 * day;
  }
  const names = Object.keys(costs[0]!) as (keyof Cost)[];
  // The first pass had no earlier record to remove.
  const each = names.map((name) => [name, costs[2]![name] - costs[1]![name]]);
  return { thousand: Object.fromEntries(each) as unknown as Cost, leftOut: left[0]! };
}

async function datedPart(): Promise<number> {
  const { world, meter } = await bucketWith(100);
  const bounds = { keysPerPage: 4, pagesPerTurn: 2, enoughSlices: 32 };
  let checked = 0;
  for (let days = 0; days < 160; days += 1) {
    const date = new Date(world.clock.time).toISOString().slice(0, 10);
    for (let number = 0; number < 10; number += 1) await world.put(`${date}/${number}`);
    const { keys } = await nextDay(world, meter, { bounds });
    if (days >= 130) checked += keys;
  }
  return checked / 30 / 1000;
}

export async function measurePasses(): Promise<MeasuredPasses> {
  const { thousand, leftOut } = await perThousand(0);
  const { thousand: thousandLarge } = await perThousand(350);
  return { thousand, thousandLarge, leftOut, dated: await datedPart() };
}
