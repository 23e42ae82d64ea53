import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { itemBytes } from '../../../shared/storage/table/item-size.ts';
import { monitoringPartition } from '../../../shared/storage/table/keys/monitoring-keys.ts';
import { packColumn, unpackColumn } from '../../../shared/monitoring/point-columns.ts';
import { resolutionFor, resolutions, samplingTime, samples as fine } from '../../../shared/monitoring/resolutions.ts';
import { Samples } from '../../../shared/monitoring/samples.ts';
import {
  aggregateOf,
  datapoints,
  statistics,
  type Aggregate,
  type Point,
} from '../../../shared/monitoring/statistics.ts';
import { CountedBytes } from '../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../support/storage/memory-table.ts';
import { runs } from '../../support/runs/runs.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const begin = Date.UTC(2026, 0, 1);
const bucketId = 'bucket-id';

let table: MemoryTable;
let samples: Samples;

beforeEach(() => {
  table = new MemoryTable();
  samples = new Samples({ table, randomness: new CountedBytes() });
});

const sample = (value: number): { BucketSizeBytes: number; NumberOfObjects: number } => ({
  BucketSizeBytes: value,
  NumberOfObjects: -value,
});

async function read(resolution = fine, from = begin, to = begin + 10 * 365 * day): Promise<Point[]> {
  const points: Point[] = [];
  for await (const point of samples.read(bucketId, resolution, from, to)) points.push(point);
  return points;
}

describe('a column', () => {
  it('comes back as it was packed', () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    const aggregate = fc.record({ sum: number, minimum: number, maximum: number, count: fc.integer({ min: 1 }) });
    fc.assert(
      fc.property(fc.array(fc.option(aggregate, { nil: undefined })), (column) => {
        expect(unpackColumn(packColumn(column, false), false)).toEqual(column);
        const single = column.map((one) => one && aggregateOf(one.sum));
        expect(unpackColumn(packColumn(single, true), true)).toEqual(single);
      }),
    );
  });
});

describe('samples', () => {
  it('are one for every five minutes: the last', async () => {
    for (const [offset, value] of [
      [0, 1],
      [4 * minute, 2],
      [5 * minute - 1, 3],
      [5 * minute, 4],
    ] as const) {
      await samples.record(bucketId, begin + offset, sample(value));
    }
    expect(await read()).toEqual([
      { at: begin, values: { BucketSizeBytes: aggregateOf(3), NumberOfObjects: aggregateOf(-3) } },
      { at: begin + samplingTime, values: { BucketSizeBytes: aggregateOf(4), NumberOfObjects: aggregateOf(-4) } },
    ]);
    const sum: Aggregate = { sum: 7, minimum: 3, maximum: 4, count: 2 };
    for (const resolution of resolutions.slice(1)) {
      expect((await read(resolution))[0]!.values.BucketSizeBytes).toEqual(sum);
    }
  });

  it('make the same statistics at every resolution that fits', async () => {
    const taken = fc.uniqueArray(
      fc.record({ slot: fc.integer({ min: 0, max: 3 * 288 }), value: fc.integer({ min: 0, max: 1000 }) }),
      { selector: ({ slot }) => slot, minLength: 1, maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(taken, fc.constantFrom(hour, 2 * hour, 5 * hour, day, 2 * day), async (all, period) => {
        table = new MemoryTable();
        samples = new Samples({ table, randomness: new CountedBytes() });
        for (const { slot, value } of all) await samples.record(bucketId, begin + slot * samplingTime, sample(value));
        const coarse = await read(resolutionFor(period));
        const single = await read();
        expect(single).toHaveLength(all.length);
        for (const statistic of statistics) {
          const series = { metric: 'BucketSizeBytes', statistic, period, origin: 0 } as const;
          expect(datapoints(coarse, series)).toEqual(datapoints(single, series));
        }
      }),
      { numRuns: runs(30) },
    );
  });

  it('are few items, each of a size that is written at once', async () => {
    for (let slot = 0; slot < 288; slot += 1) await samples.record(bucketId, begin + slot * samplingTime, sample(slot));
    const keys = table.keysOf(monitoringPartition.samples(bucketId));
    expect(keys).toHaveLength(6 + 1 + 1);
    for (const sk of keys) {
      const key = { pk: monitoringPartition.samples(bucketId), sk };
      expect(key.pk.length + sk.length + itemBytes((await table.get(key))!)).toBeLessThan(
        sk.startsWith('1h/') ? 2048 : 1024,
      );
    }
  });

  it('are read from any moment to any other, across items and pages', async () => {
    const slots = Array.from({ length: 110 * 6 }, (_, at) => begin + at * 4 * hour + 17 * samplingTime);
    for (const at of slots) await samples.record(bucketId, at, sample(1));
    expect((await read()).map(({ at }) => at)).toEqual(slots);
    expect((await read(fine, slots[3]! + 1, slots[600])).map(({ at }) => at)).toEqual(slots.slice(4, 600));
    expect((await read(fine, slots[3], slots[3]! + 1)).map(({ at }) => at)).toEqual([slots[3]]);
    expect(await samples.latest(bucketId, slots.at(-1)! - 1, slots.at(-1)! + 1)).toMatchObject({ at: slots.at(-1) });
    expect(await samples.latest(bucketId, slots.at(-1)! + 1, slots.at(-1)! + day)).toBeUndefined();
  });

  it('that are taken at the same time by two lose nothing', async () => {
    let others = 3;
    table.beforeWrite = async () => {
      if (others === 0) return;
      others -= 1;
      const at = others;
      await samples.record(bucketId, begin + at * samplingTime, sample(at));
    };
    await samples.record(bucketId, begin + hour, sample(60));
    expect((await read()).map(({ values }) => values.BucketSizeBytes.sum)).toEqual([0, 1, 2, 60]);
    expect((await read(resolutions[2]))[0]!.values.BucketSizeBytes).toMatchObject({ sum: 63, count: 4 });
  });

  it.each([
    [0, 63 * day],
    [1, 455 * day],
    [2, 5 * 365 * day],
  ])('are kept for their time, and then go: resolution %s', async (index, kept) => {
    const resolution = resolutions[index]!;
    await samples.record(bucketId, begin, sample(1));
    await samples.prune(bucketId, begin + kept);
    expect(await read(resolution)).toHaveLength(1);
    await samples.prune(bucketId, begin + kept + resolution.span);
    expect(await read(resolution)).toEqual([]);
    const expiries = await Promise.all(
      table.keysOf(monitoringPartition.samples(bucketId)).map(async (sk) => {
        const item = await table.get({ pk: monitoringPartition.samples(bucketId), sk });
        return (item!['expires'] as number) * 1000;
      }),
    );
    expect(expiries.every((time) => time > begin + kept)).toBe(true);
  });
});

describe('the resolution of a series', () => {
  it.each([
    [5 * minute, '5m'],
    [35 * minute, '5m'],
    [hour, '1h'],
    [90 * minute, '5m'],
    [7 * hour, '1h'],
    [day, '1d'],
    [36 * hour, '1h'],
    [30 * day, '1d'],
  ])('of periods of %s ms is %s', (period, name) => {
    expect(resolutionFor(period).name).toBe(name);
  });
});
