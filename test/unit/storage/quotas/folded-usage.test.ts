import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginningOf, dayOf, daysOf } from '../../../../shared/storage/table/keys/days.ts';
import { billingPartition } from '../../../../shared/storage/table/keys/billing-keys.ts';
import { projectUsage } from '../../../../shared/billing/project-usage.ts';
import { itemKey, partition } from '../../../../shared/storage/table/keys/keys.ts';
import { UsageFollower } from '../../../../shared/billing/usage-follower.ts';
import { UsageFold } from '../../../../shared/billing/usage-fold.ts';
import { CryptoRandomness } from '../../../../shared/adapters/system/crypto-randomness.ts';
import type { FeedRecord } from '../../../../shared/ports/key-value-table.ts';
import { day, hour } from '../../../../shared/ports/durations.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';
import { RotatingStream } from '../../../support/bytes/rotating-stream.ts';
import { runs } from '../../../support/runs/runs.ts';

/** Counters as the cloud keeps them. */
function folding(table: MemoryTable): UsageFollower {
  const deps = { table, randomness: new CryptoRandomness() };
  return new UsageFollower({ ...deps, fold: new UsageFold({ ...deps, shardLifetime: 2 * day }) });
}

const begin = beginningOf('2027-01-01');
const bucketId = '0bucket';

/** Puts ever larger objects into a bucket, and computes their byte-hours. */
class Year {
  readonly table = new MemoryTable();
  readonly stream = new RotatingStream(this.table);
  now = begin;
  size = 0;
  objects = 0;
  /** Byte-hours of each day. */
  readonly expected = new Map<string, number>();

  constructor() {
    this.table.now = () => this.now;
  }

  /** A process of its own each time. */
  get usage(): UsageFollower {
    return folding(this.table);
  }

  async start(): Promise<void> {
    await this.table.write([{ key: itemKey.bucketName(bucketId), put: { name: 'bucket', project: 'project' } }]);
  }

  pass(time: number): void {
    // Whole hours, so that no step lies in two days.
    for (let at = this.now; at < this.now + time; at += hour) {
      this.expected.set(dayOf(at), (this.expected.get(dayOf(at)) ?? 0) + this.size * this.objects);
    }
    this.now += time;
  }

  async put(key: string, size: number | undefined): Promise<void> {
    const head = { pk: partition.currentVersions(bucketId), sk: key };
    const put = size === undefined ? undefined : { i: 'i'.repeat(32), r: 'r', s: size, o: 'project' };
    await this.table.write([put ? { key: head, put } : { key: head, delete: true }]);
  }

  async follow(): Promise<void> {
    for (const batch of this.stream.next()) await this.usage.follow(batch);
  }
}

describe('the counters of a bucket, through shards that are closed every four hours', () => {
  it('stay as few as shards can still be read, and exact, with the bill', async () => {
    const year = new Year();
    await year.start();
    year.size = 10;
    let most = 0;
    for (let step = 0; step < 365 * 4; step += 1) {
      // 1, 2, 3 objects, then 2 and 1 again.
      await year.put(`k${step % 3}`, (step / 3) % 2 < 1 ? 10 : undefined);
      year.objects = year.table.keysOf(partition.currentVersions(bucketId)).length;
      await year.follow();
      for (const batch of year.stream.again(year.now).slice(-3)) await year.usage.follow(batch);
      if (step % 400 === 0) year.stream.split();
      year.pass(6 * hour);
      most = Math.max(most, year.table.keysOf(partition.usage(bucketId)).length);
    }
    expect(await year.usage.of(bucketId)).toEqual({
      objects: year.objects,
      bytesOfVersions: 10 * year.objects,
      bytesBesides: 0,
    });
    // Two days of four shards each, and the base.
    expect(most).toBeLessThanOrEqual(12);
    const storage = year.table.keysOf(billingPartition.storage('project'));
    expect(storage.length).toBeLessThanOrEqual(365 + 12);
    for (const month of ['2027-01', '2027-06', '2027-12']) {
      const days = await projectUsage(year.table, 'project', daysOf(month)!, year.now);
      for (const { day: name, byteHours } of days) expect([name, byteHours]).toEqual([name, year.expected.get(name)]);
    }
  });

  it('are added up over all pages, and so is the bill', async () => {
    const { table, usage } = new Year();
    const rows = 12_000;
    for (let at = 0; at < rows; at += 1) {
      const shardId = `shardId-${String(at).padStart(20, '0')}-${'0'.repeat(8)}`;
      const key = itemKey.usage(bucketId, shardId);
      await table.write([
        { key, put: { objects: 1, bytes: 7, parts: 1, at: begin, upTo: '1', project: 'project', r: 'r' } },
      ]);
    }
    expect(await usage.of(bucketId)).toEqual({ objects: rows, bytesOfVersions: 7 * rows, bytesBesides: rows });
  });

  it('are folded where an earlier version left a row for each shard of a year', async () => {
    const year = new Year();
    await year.start();
    const former = new UsageFollower({ table: year.table, randomness: new CryptoRandomness() });
    year.size = 10;
    for (let step = 0; step < 365; step += 1) {
      await year.put(`k${step % 3}`, (step / 3) % 2 < 1 ? 10 : undefined);
      year.objects = year.table.keysOf(partition.currentVersions(bucketId)).length;
      for (const batch of year.stream.next()) await former.follow(batch);
      year.pass(day);
    }
    expect(year.table.keysOf(partition.usage(bucketId)).length).toBe(365);
    for (let step = 0; step < 20; step += 1) {
      await year.put('k0', 10);
      year.objects = year.table.keysOf(partition.currentVersions(bucketId)).length;
      await year.follow();
      year.pass(6 * hour);
    }
    expect(year.table.keysOf(partition.usage(bucketId)).length).toBeLessThanOrEqual(12);
    const days = await projectUsage(year.table, 'project', daysOf('2027-03')!, year.now);
    for (const { day: name, byteHours } of days) expect([name, byteHours]).toEqual([name, year.expected.get(name)]);
    expect(await year.usage.of(bucketId)).toEqual({
      objects: year.objects,
      bytesOfVersions: 10 * year.objects,
      bytesBesides: 0,
    });
  });

  it('count what comes late of a shard that was folded', async () => {
    const { table, usage } = new Year();
    const head = (shardId: string, position: number, at: number, key: string) => ({
      ...{ shardId, position: String(position), at, key: { pk: partition.currentVersions(bucketId), sk: key } },
      ...{ old: undefined, new: { i: 'i'.repeat(32), r: 'r', s: 5, o: 'project' } },
    });
    await usage.follow([head('shardId-1', 1, begin, 'a')]);
    await usage.follow([head('shardId-2', 2, begin + 3 * day, 'b')]);
    expect(table.keysOf(partition.usage(bucketId))).toEqual(['base', 'shardId-2']);
    await usage.follow([head('shardId-1', 3, begin + hour, 'c')]);
    expect(await usage.of(bucketId)).toEqual({ objects: 3, bytesOfVersions: 15, bytesBesides: 0 });
    const [first] = await projectUsage(table, 'project', ['2027-01-01'], begin + 4 * day);
    expect(first!.byteHours).toBe(5 * 24 + 5 * 23);
  });

  it('are not read half before a fold and half after it', async () => {
    const { table, usage } = new Year();
    const put = { objects: 1, bytes: 5, parts: 0, at: begin, upTo: '1', project: 'project' };
    await table.write([{ key: itemKey.usage(bucketId, 'base'), put: { ...put, r: 'base' } }]);
    await table.write([{ key: itemKey.usage(bucketId, 'shardId-1'), put: { ...put, r: 'one' } }]);
    // A transaction is atomic for writers alone: a query may see the new base beside the row that went into it.
    const folded = { ...put, objects: 2, bytes: 10, folded: new Set(['one']), r: 'folded' };
    await table.write([{ key: itemKey.usage(bucketId, 'base'), put: folded }]);
    expect(await usage.of(bucketId)).toEqual({ objects: 2, bytesOfVersions: 10, bytesBesides: 0 });
    // Or the base as it was, and no row any more.
    table.beforeWrite = async () => undefined;
    const query = table.query.bind(table);
    let once = true;
    table.query = async (pk, options) => {
      const page = await query(pk, options);
      if (!once) return page;
      once = false;
      const base = { key: itemKey.usage(bucketId, 'base'), attributes: { ...put, r: 'base' } };
      return { ...page, items: [base] };
    };
    expect(await usage.of(bucketId)).toEqual({ objects: 2, bytesOfVersions: 10, bytesBesides: 0 });
  });
});

describe('a fold', () => {
  const changes = fc.array(
    fc.record({
      pause: fc.integer({ min: 0, max: day }),
      bucket: fc.integer({ min: 0, max: 1 }),
      key: fc.integer({ min: 0, max: 3 }),
      size: fc.option(fc.integer({ min: 0, max: 2 ** 40 }), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 60 },
  );

  it('changes no sum and no day, whatever shards there were, and whatever is told again', async () => {
    await fc.assert(
      fc.asyncProperty(changes, fc.integer({ min: 1, max: 5 }), fc.nat(10), async (steps, shards, again) => {
        const table = new MemoryTable();
        const one = new MemoryTable();
        const randomness = new CryptoRandomness();
        const folded = folding(table);
        const plain = new UsageFollower({ table: one, randomness });
        const sizes = new Map<string, number | undefined>();
        const told: FeedRecord[] = [];
        let at = begin;
        for (const [index, { pause, bucket, key, size }] of steps.entries()) {
          at += pause;
          const pk = partition.currentVersions(`${bucket}bucket`);
          const head = (bytes: number | undefined) =>
            bytes === undefined ? undefined : { i: 'i'.repeat(32), r: 'r', s: bytes, o: 'project' };
          const [old, present] = [head(sizes.get(`${pk}${key}`)), head(size)];
          sizes.set(`${pk}${key}`, size);
          const record = { position: String(index + 1), at, key: { pk, sk: String(key) }, old, new: present };
          // Each key has its partition, and each partition its shard.
          const shardId = `shardId-${Math.floor(at / (4 * hour))}-${key % shards}`;
          told.push({ ...record, shardId });
          const recent = told.slice(-again - 1, -1).filter((earlier) => at - earlier.at < day);
          for (const earlier of [...recent, told.at(-1)!]) await folded.follow([earlier]);
          await plain.follow([{ ...record, shardId: 'lane' }]);
        }
        for (const bucket of ['0bucket', '1bucket']) expect(await folded.of(bucket)).toEqual(await plain.of(bucket));
        for (const month of ['2027-01', '2027-02', '2027-03']) {
          const [bill, exact] = [table, one].map((from) => projectUsage(from, 'project', daysOf(month)!, at + day));
          expect(await bill).toEqual(await exact);
        }
        const last = table.keysOf(partition.usage('0bucket')).filter((shardId) => shardId !== 'base');
        expect(last.length).toBeLessThanOrEqual(shards * 13);
      }),
      { numRuns: runs(150) },
    );
  });

  it('comes after whoever changes a row meanwhile', async () => {
    const { table, usage } = new Year();
    const put = { objects: 1, bytes: 5, parts: 0, at: begin, upTo: '1', project: 'project' };
    await table.write([{ key: itemKey.usage(bucketId, 'shardId-1'), put: { ...put, r: 'one' } }]);
    table.beforeWrite = async (all) => {
      if (!all.some((change) => 'delete' in change)) return;
      table.beforeWrite = async () => undefined;
      const meanwhile = { ...put, objects: 2, bytes: 9, r: 'other' };
      await table.write([{ key: itemKey.usage(bucketId, 'shardId-1'), put: meanwhile }]);
    };
    const key = { pk: partition.currentVersions(bucketId), sk: 'key' };
    const head = { i: 'i'.repeat(32), r: 'r', s: 5, o: 'project' };
    await usage.follow([{ shardId: 'shardId-2', position: '2', at: begin + 3 * day, key, old: undefined, new: head }]);
    expect(await usage.of(bucketId)).toEqual({ objects: 3, bytesOfVersions: 14, bytesBesides: 0 });
  });

  it('goes on from counters that a scrub has corrected', async () => {
    const { table, usage } = new Year();
    const key = { pk: partition.currentVersions(bucketId), sk: 'key' };
    const head = { i: 'i'.repeat(32), r: 'r', s: 5, o: 'project' };
    await usage.follow([{ shardId: 'shardId-1', position: '1', at: begin, key, old: undefined, new: head }]);
    const row = itemKey.usage(bucketId, 'shardId-1');
    await table.write([{ key: row, put: { ...(await table.get(row))!, bytes: 7, r: 'corrected' } }]);
    const later = { ...key, sk: 'another' };
    const at = begin + 3 * day;
    await usage.follow([{ shardId: 'shardId-2', position: '2', at, key: later, old: undefined, new: head }]);
    const days = await projectUsage(table, 'project', daysOf('2027-01')!, begin + 5 * day);
    expect(days.map(({ byteHours }) => byteHours).slice(0, 5)).toEqual([120, 120, 120, 12 * 24, 12 * 24]);
  });
});

describe('the bill of a project', () => {
  it('is read in pages, whatever number of buckets and shards it has', async () => {
    const { table } = new Year();
    for (let bucket = 0; bucket < 1000; bucket += 1) {
      for (let at = 0; at < 5; at += 1) {
        const sk = `${String(bucket).padStart(22, '0')}/base/${dayOf(begin + at * day)}`;
        const put = { bytes: 1, objects: 1, at: begin + at * day, time: '0' };
        await table.write([{ key: { pk: billingPartition.storage('project'), sk }, put }]);
      }
    }
    table.calls.query = 0;
    const [first] = await projectUsage(table, 'project', ['2027-01-01'], begin + 10 * day);
    expect(first).toMatchObject({ byteHours: 24_000, objects: 1000 });
    expect(table.calls.query).toBeLessThan(50);
  });
});
