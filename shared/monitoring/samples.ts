import type { Attributes, Change, Item, ItemKey, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import { expiry } from '../storage/table/attribute-values.ts';
import { sortableTime, writeToken } from '../storage/table/keys/ids.ts';
import { monitoringKey, monitoringKeyParts, monitoringPartition } from '../storage/table/keys/monitoring-keys.ts';
import { asRead, conflict, optimistically } from '../storage/table/optimistic-write.ts';
import { settled } from '../storage/table/settled.ts';
import { packColumn, unpackColumn } from './point-columns.ts';
import { beginningOf, days, hours, resolutions, samples, type Resolution } from './resolutions.ts';
import { aggregateOf, join, metrics, type Aggregate, type Metric, type Point, type Sample } from './statistics.ts';

const pageSize = 100;

/** The contents of one item, unpacked: a column of places for each metric. */
type Columns = Record<Metric, (Aggregate | undefined)[]>;

/** An item as read, and its contents to be written. */
interface LoadedItem {
  readonly resolution: Resolution;
  readonly key: ItemKey;
  readonly before: Attributes | undefined;
  readonly columns: Columns;
}

/**
 * The stored samples of bucket sizes. There is one sample for every five minutes, the last taken in that interval. Each
 * new sample recomputes its hour and its day from the finer points, so nothing is counted twice.
 */
export class Samples {
  readonly #table: KeyValueTable;
  readonly #randomness: Randomness;

  constructor(deps: { table: KeyValueTable; randomness: Randomness }) {
    this.#table = deps.table;
    this.#randomness = deps.randomness;
  }

  /**
   * Stores a sample in place of any other of the same five minutes.
   * @returns whether a new item was begun, which is the time to {@link prune}
   */
  async record(bucketId: string, moment: number, sample: Sample): Promise<boolean> {
    return optimistically(
      async () => {
        const [fine, hourly, daily] = await this.#load(bucketId, moment);
        for (const metric of metrics) {
          fine.columns[metric][placeOf(samples, moment)] = aggregateOf(sample[metric]);
          sumUp(metric, fine, hourly, moment);
          sumUp(metric, hourly, daily, moment);
        }
        const { outcome } = await this.#table.write([fine, hourly, daily].map((loaded) => this.#change(loaded)));
        if (outcome === 'written') return fine.before === undefined;
        return conflict;
      },
      () => {
        throw new Error('samples could not be written');
      },
    );
  }

  /** Yields the points from `from` (inclusive) to `to` (exclusive), in order of time. */
  async *read(bucketId: string, resolution: Resolution, from: number, to: number): AsyncGenerator<Point> {
    const pk = monitoringPartition.samples(bucketId);
    const prefix = `${resolution.name}/`;
    const last = prefix + sortableTime(beginningOf(to - 1, resolution.span));
    let start: { from: string } | { after: string } = { from: monitoringKey.samples(bucketId, resolution, from).sk };
    for (;;) {
      const { items, more } = await this.#table.query(pk, { prefix, limit: pageSize, ...start });
      for (const item of items) {
        if (item.key.sk > last) return;
        for (const point of pointsOf(item, resolution)) if (point.at >= from && point.at < to) yield point;
      }
      const end = items.at(-1);
      if (!more || end === undefined) return;
      start = { after: end.key.sk };
    }
  }

  /** Returns the latest sample, if it was taken at or after `since`. */
  async latest(bucketId: string, since: number, now: number): Promise<Point | undefined> {
    let found: Point | undefined;
    for await (const point of this.read(bucketId, samples, since, now + 1)) found = point;
    return found;
  }

  /** Removes expired items that the engine has not removed itself. */
  async prune(bucketId: string, now: number): Promise<void> {
    for (const resolution of resolutions) {
      const prefix = `${resolution.name}/`;
      for (;;) {
        const query = { prefix, limit: pageSize, mayBeStale: true };
        const { items } = await this.#table.query(monitoringPartition.samples(bucketId), query);
        const expired = items.filter(({ key }) => expiresAt(resolution, monitoringKeyParts.samplesBegin(key)) <= now);
        for (const { key } of expired) await settled(this.#table.write([{ key, delete: true }]));
        if (expired.length < pageSize) break;
      }
    }
  }

  async #load(bucketId: string, moment: number): Promise<readonly [LoadedItem, LoadedItem, LoadedItem]> {
    const keys = resolutions.map((resolution) => monitoringKey.samples(bucketId, resolution, moment));
    const items = await this.#table.getTogether(keys);
    const loaded = (resolution: Resolution, at: number): LoadedItem => ({
      resolution,
      key: keys[at]!,
      before: items[at],
      columns: columnsOf(items[at], resolution),
    });
    return [loaded(samples, 0), loaded(hours, 1), loaded(days, 2)];
  }

  #change({ key, before, columns, resolution }: LoadedItem): Change {
    const packed = metrics.map((metric) => [metric, packColumn(columns[metric], resolution === samples)]);
    return {
      key,
      put: {
        ...(Object.fromEntries(packed) as Attributes),
        ...expiry(expiresAt(resolution, monitoringKeyParts.samplesBegin(key))),
        r: writeToken(this.#randomness),
      },
      expect: asRead(before),
    };
  }
}

/** An item expires when the retention of its youngest point ends. */
function expiresAt({ kept, span }: Resolution, begin: number): number {
  return begin + span + kept;
}

/** Returns the index of a moment's point in its item. */
function placeOf({ step, span }: Resolution, moment: number): number {
  return Math.floor((moment % span) / step);
}

/** Recomputes the coarse point of a moment from the fine points of the same interval. */
function sumUp(metric: Metric, fine: LoadedItem, coarse: LoadedItem, moment: number): void {
  const { step } = coarse.resolution;
  const begin = beginningOf(moment, step);
  const first = placeOf(fine.resolution, begin);
  const parts = fine.columns[metric].slice(first, first + step / fine.resolution.step);
  coarse.columns[metric][placeOf(coarse.resolution, moment)] = parts
    .filter((part) => part !== undefined)
    .reduce<Aggregate | undefined>((sum, part) => (sum === undefined ? part : join(sum, part)), undefined);
}

function columnsOf(item: Attributes | undefined, resolution: Resolution): Columns {
  const places = resolution.span / resolution.step;
  const column = (metric: Metric): (Aggregate | undefined)[] => {
    const packed = item?.[metric];
    return packed instanceof Uint8Array
      ? unpackColumn(packed, resolution === samples)
      : Array.from({ length: places }, () => undefined);
  };
  return { BucketSizeBytes: column('BucketSizeBytes'), NumberOfObjects: column('NumberOfObjects') };
}

function* pointsOf({ key, attributes }: Item, resolution: Resolution): Generator<Point> {
  const begin = monitoringKeyParts.samplesBegin(key);
  const columns = columnsOf(attributes, resolution);
  for (const [place, BucketSizeBytes] of columns.BucketSizeBytes.entries()) {
    const NumberOfObjects = columns.NumberOfObjects[place];
    if (BucketSizeBytes === undefined || NumberOfObjects === undefined) continue;
    yield { at: begin + place * resolution.step, values: { BucketSizeBytes, NumberOfObjects } };
  }
}
