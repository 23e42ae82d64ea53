import { expect, it } from 'vitest';
import type { Bucket } from '../../../../shared/storage/buckets/bucket.ts';
import { ExactQuotas } from '../../../../shared/storage/quotas/exact-quotas.ts';
import type { Amount } from '../../../../shared/storage/amount.ts';

const defaults = { bytes: 100, objects: 10 };
const bucket = (quota?: Partial<Amount>): Bucket => ({ id: 'id', name: 'name', quota }) as unknown as Bucket;
const exceeded = expect.objectContaining({ code: 'QuotaExceeded' }) as unknown;

/** A bucket that adds up the writes to it, and counts its measurements. */
class Held {
  amount: Amount = { bytes: 0, objects: 0 };
  measured = 0;
  readonly quotas = new ExactQuotas(async () => {
    this.measured += 1;
    return this.amount;
  }, defaults);

  add(bytes: number, objects = 1): void {
    this.amount = { bytes: this.amount.bytes + bytes, objects: this.amount.objects + objects };
  }

  async put(bytes: number, quota?: Partial<Amount>): Promise<void> {
    const reservation = await this.quotas.reserve(bucket(quota), { bytes, objects: 1 });
    this.add(bytes);
    reservation.release();
  }
}

it('a quota is reached exactly and never passed', async () => {
  const held = new Held();
  await held.put(60);
  await expect(held.put(41)).rejects.toEqual(exceeded);
  await held.put(40);
  await expect(held.put(1)).rejects.toEqual(exceeded);
  await held.put(0);
  expect(held.amount).toEqual({ bytes: 100, objects: 3 });
});

it('the quota of the bucket comes before the default, each by itself', async () => {
  const held = new Held();
  await held.put(150, { bytes: 200 });
  await expect(held.put(1)).rejects.toEqual(exceeded);
  await expect(held.put(1, { bytes: 200, objects: 1 })).rejects.toEqual(exceeded);
});

it('a bucket is measured once while there is room', async () => {
  const held = new Held();
  for (let count = 0; count < 10; count += 1) await held.put(1);
  expect(held.measured).toBe(1);
});

it('what was deleted makes room, and so does what failed', async () => {
  const held = new Held();
  await held.put(100);
  held.add(-50, -1);
  const failing = await held.quotas.reserve(bucket(), { bytes: 50, objects: 1 });
  failing.release();
  await held.put(50);
  expect(held.amount.bytes).toBe(100);
});

it('what is being written takes room already', async () => {
  const held = new Held();
  let finish = (): void => undefined;
  const write = async (): Promise<void> => {
    const reservation = await held.quotas.reserve(bucket(), { bytes: 60, objects: 1 });
    await new Promise<void>((resolve) => (finish = resolve));
    held.add(60);
    reservation.release();
  };
  const slow = write();
  await expect.poll(() => held.measured).toBe(1);
  await expect(held.put(60)).rejects.toEqual(exceeded);
  finish();
  await slow;
  await held.put(40);
});

it('work that turns out larger reserves more, and is refused where that does not fit', async () => {
  const held = new Held();
  const write = async (bytes: number): Promise<void> => {
    const reservation = await held.quotas.reserve(bucket(), { bytes: 0, objects: 1 });
    try {
      await reservation.add({ bytes, objects: 0 });
      held.add(bytes);
    } finally {
      reservation.release();
    }
  };
  await write(70);
  await expect(write(31)).rejects.toEqual(exceeded);
  await write(30);
});

it('of many at once as many pass as fit', async () => {
  const held = new Held();
  const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => held.put(30)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  expect(held.amount).toEqual({ bytes: 90, objects: 3 });
});
