import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { day as dayLength } from '../../../shared/ports/durations.ts';
import { beginningOf, daysOf } from '../../../shared/storage/table/keys/days.ts';
import { projectUsage } from '../../../shared/billing/project-usage.ts';
import { billingKey } from '../../../shared/storage/table/keys/billing-keys.ts';
import { itemKey, partition } from '../../../shared/storage/table/keys/keys.ts';
import { UsageFollower } from '../../../shared/billing/usage-follower.ts';
import type { FeedRecord } from '../../../shared/ports/key-value-table.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { MemoryTable } from '../../support/storage/memory-table.ts';
import { runs } from '../../support/runs/runs.ts';

const month = '2026-11';
const begin = beginningOf(`${month}-01`);
const end = begin + daysOf(month)!.length * dayLength;
const hour = 60 * 60 * 1000;

/** A change of the one object of a bucket, from one size to another; undefined: it is not there. */
interface Resize {
  readonly at: number;
  readonly from: number | undefined;
  readonly to: number | undefined;
}

function currentVersion(size: number | undefined): FeedRecord['old'] {
  return size === undefined ? undefined : { i: 'i'.repeat(32), r: 'r', s: size, o: 'project' };
}

function recordsOf(bucketId: string, changes: readonly Resize[]): FeedRecord[] {
  return changes.map(({ at, from, to }, index) => ({
    ...{
      shardId: 'shard-1',
      position: String(index + 1),
      at,
      key: { pk: partition.currentVersions(bucketId), sk: 'key' },
    },
    ...{ old: currentVersion(from), new: currentVersion(to) },
  }));
}

function world() {
  const table = new MemoryTable();
  const follower = (): UsageFollower => new UsageFollower({ table, randomness: new CryptoRandomness() });
  return { table, follower };
}

/** Byte-hours by adding up stretch by stretch. */
function expectedByteHours(changes: readonly Resize[], from: number, to: number): number {
  let sum = 0n;
  for (const [index, { at, to: size = 0 }] of changes.entries()) {
    const next = changes[index + 1]?.at ?? Infinity;
    const stretch = Math.min(next, to) - Math.max(at, from);
    if (stretch > 0) sum += BigInt(size) * BigInt(stretch);
  }
  return Number(sum) / hour;
}

const resizes = fc
  .array(
    fc.tuple(
      fc.integer({ min: 0, max: 5 * dayLength }),
      fc.option(fc.integer({ min: 0, max: 2 ** 44 }), { nil: undefined }),
    ),
    { minLength: 1, maxLength: 30 },
  )
  .map((steps) => {
    let at = begin - dayLength;
    let from: number | undefined;
    return steps.map(([pause, to]) => {
      at += pause;
      const change = { at, from, to };
      from = to;
      return change;
    });
  });

describe('the bill of what a bucket holds', () => {
  it('is exact, in whatever batches records come, and however often', async () => {
    const deliveries = fc.array(fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 10 })), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(resizes, deliveries, async (changes, batches) => {
        const { table, follower } = world();
        const records = recordsOf('0bucket', changes);
        // Batches overlap, and begin at most where the last one ended; every one by a process of its own.
        let reached = 0;
        for (const [back, size] of batches) {
          const from = Math.max(0, reached - back);
          await follower().follow(records.slice(from, from + size));
          reached = Math.max(reached, Math.min(records.length, from + size));
        }
        await follower().follow(records.slice(Math.max(0, reached - 3)));

        const days = await projectUsage(table, 'project', daysOf(month)!, end);
        expect(days).toHaveLength(30);
        for (const { day, byteHours } of days) {
          const start = beginningOf(day);
          expect(byteHours).toBe(expectedByteHours(changes, start, start + dayLength));
        }
        const current = changes.filter(({ at }) => at < end).at(-1);
        expect(days.at(-1)!.objects).toBe(current?.to === undefined ? 0 : 1);
      }),
      { numRuns: runs(200) },
    );
  });

  it('goes on with what is held, through days in which nothing happens', async () => {
    const { table, follower } = world();
    const changes = [
      { at: begin - 40 * dayLength, from: undefined, to: 1000 },
      { at: begin + 10 * dayLength, from: 1000, to: undefined },
    ];
    await follower().follow(recordsOf('0bucket', changes));
    const now = begin + 11 * dayLength + hour;
    const days = await projectUsage(table, 'project', daysOf(month)!, now);
    expect(days.map(({ byteHours }) => byteHours)).toEqual([...Array<number>(10).fill(24_000), 0, 0]);
    expect(days.map(({ objects }) => objects)).toEqual([...Array<number>(10).fill(1), 0, 0]);
    const earlier = await projectUsage(table, 'project', daysOf(month)!, begin + hour);
    expect(earlier.map(({ byteHours }) => byteHours)).toEqual([1000]);
    expect(await projectUsage(table, 'project', daysOf('2026-12')!, now)).toEqual([]);
    expect(await projectUsage(table, 'other', daysOf(month)!, now)).toHaveLength(12);
  });

  it('adds up the buckets of a project, and those of nobody else', async () => {
    const { table, follower } = world();
    await table.write([{ key: itemKey.bucketName('0theirs'), put: { name: 'theirs', project: 'other' } }]);
    for (const bucketId of ['0one', '0two', '0theirs']) {
      await follower().follow(recordsOf(bucketId, [{ at: begin, from: undefined, to: 5 }]));
    }
    const hours = async (project: string): Promise<number> =>
      (await projectUsage(table, project, daysOf(month)!, begin + dayLength))[0]!.byteHours;
    expect([await hours('project'), await hours('other')]).toEqual([240, 120]);
  });

  it('has the bytes of versions alone, and corrects what an earlier version counted besides', async () => {
    const { table, follower } = world();
    await table.write([{ key: itemKey.bucketName('0bucket'), put: { name: 'bucket', project: 'project' } }]);
    const part = { shardId: 'shard-1', key: { pk: 'upload/id', sk: 'p/00001/id' } };
    const item = { bucketId: '0bucket', size: 7, held: 256 };
    const put = { at: begin, from: undefined, to: 3 };
    await follower().follow([
      ...recordsOf('0bucket', [put]),
      { ...part, position: '2', at: begin, old: undefined, new: item },
    ]);
    const hours = async (moment: number): Promise<number> =>
      (await projectUsage(table, 'project', [`${month}-01`], moment))[0]!.byteHours;
    expect(await hours(begin + hour)).toBe(3);
    // The row of the counters has always had both; the day had their sum.
    const day = billingKey.storage('project', '0bucket', 'shard-1', `${month}-01`);
    await table.write([{ key: day, put: { ...(await table.get(day))!, bytes: 3 + 7 } }]);
    expect(await hours(begin + hour)).toBe(10);
    await follower().follow([{ ...part, position: '3', at: begin + hour, old: item, new: undefined }]);
    expect(await hours(begin + 2 * hour)).toBe(6);
    expect(await follower().of('0bucket')).toEqual({ objects: 1, bytesOfVersions: 3, bytesBesides: 0 });
  });

  it('outlives the bucket and its counters, whose remains are still let go of', async () => {
    const { table, follower } = world();
    const records = recordsOf('0bucket', [
      { at: begin, from: undefined, to: 3 },
      { at: begin + dayLength, from: 3, to: undefined },
    ]);
    await follower().follow(records.slice(0, 1));
    await table.write([{ key: itemKey.usage('0bucket', 'shard-1'), delete: true }]);
    await follower().follow(records.slice(1));
    const days = await projectUsage(table, 'project', daysOf(month)!, end);
    expect(days.slice(0, 3).map(({ byteHours }) => byteHours)).toEqual([72, 0, 0]);
    expect(days.at(-1)!.objects).toBe(0);
  });
});
