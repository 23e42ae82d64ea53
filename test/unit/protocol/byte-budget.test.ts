import { describe, expect, it } from 'vitest';
import { firstPartSize, mostHeld } from '../../../shared/adapters/cloud/s3/blob-parts.ts';
import { BudgetedBlobs } from '../../../shared/protocol/bodies/capacity/budgeted-blobs.ts';
import { ByteBudget } from '../../../shared/protocol/bodies/capacity/byte-budget.ts';
import type { BlobStore } from '../../../shared/ports/blob-store.ts';

const MiB = 1024 * 1024;

describe('a budget of bytes', () => {
  it('gives what it has, refuses more, and has again what was given back, once', () => {
    const budget = new ByteBudget(10);
    const first = budget.take(6)!;
    expect(budget.take(5)).toBeUndefined();
    expect(budget.take(4)).toBeDefined();
    first();
    first();
    expect(budget.take(7)).toBeUndefined();
    expect(budget.take(6)).toBeDefined();
  });

  it('lets through alone what is larger than all of it', () => {
    const budget = new ByteBudget(10);
    const whole = budget.take(11)!;
    expect(budget.take(1)).toBeUndefined();
    whole();
    const small = budget.take(1)!;
    expect(budget.take(11)).toBeUndefined();
    small();
    expect(budget.take(11)).toBeDefined();
  });

  it('tells the most that was taken since it was last asked', () => {
    const budget = new ByteBudget(10);
    const five = budget.take(5)!;
    five();
    expect([budget.peakPercent(), budget.peakPercent()]).toEqual([50, 0]);
    budget.take(3);
    budget.take(8);
    expect([budget.peakPercent(), budget.peakPercent()]).toEqual([100, 30]);
  });
});

describe('the memory of an upload', () => {
  it('is that of its bytes, or of three parts', () => {
    expect(mostHeld(1)).toBe(64 * 1024);
    expect(mostHeld(firstPartSize)).toBe(8 * MiB);
    expect(mostHeld(firstPartSize + 1)).toBe(16 * MiB);
    for (const length of [24 * MiB, 5 * 1024 * MiB, undefined]) expect(mostHeld(length)).toBe(24 * MiB);
  });
});

describe('a blob store with a budget', () => {
  it('refuses a write before it reads, and takes it once another one has ended or failed', async () => {
    const ends: ((error?: Error) => void)[] = [];
    const store = {
      write: () =>
        new Promise((resolve, reject) =>
          ends.push((error) => (error ? reject(error) : resolve({ ref: 'r', size: 1 }))),
        ),
    } as unknown as BlobStore;
    const blobs = new BudgetedBlobs(store, { budget: new ByteBudget(10), weigh: (length = 10) => length });
    let wasRead = false;
    const unread = {
      [Symbol.asyncIterator]: () => {
        wasRead = true;
        throw new Error('read');
      },
    };
    const owner = { bucketId: 'b', key: 'k' };
    const first = blobs.write(unread, owner, 6);
    const cause = { message: 'no memory for uploads is left' };
    await expect(blobs.write(unread, owner)).rejects.toMatchObject({ code: 'SlowDown', status: 503, cause });
    expect({ wasRead, begun: ends.length }).toEqual({ wasRead: false, begun: 1 });
    ends[0]!(new Error('lost'));
    await expect(first).rejects.toThrow('lost');
    const second = blobs.write(unread, owner);
    ends[1]!();
    expect(await second).toEqual({ ref: 'r', size: 1 });
  });
});
