import { describe, expect, it } from 'vitest';
import { Buckets } from '../../../shared/storage/buckets/buckets.ts';
import { Objects } from '../../../shared/storage/objects/objects.ts';
import { KeyedMutex, Slots } from '../../../shared/storage/concurrency.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import { CountedBytes, SetClock } from '../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../support/storage/memory-table.ts';

describe('slots', () => {
  it('limit what is done at the same time, first come, first served', async () => {
    const slots = new Slots(3);
    const begun: number[] = [];
    let running = 0;
    let most = 0;
    const all = Array.from({ length: 20 }, (_, at) =>
      slots.run(async () => {
        begun.push(at);
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        running -= 1;
        return at;
      }),
    );
    expect(await Promise.all(all)).toEqual(Array.from({ length: 20 }, (_, at) => at));
    expect(begun).toEqual(Array.from({ length: 20 }, (_, at) => at));
    expect(most).toBe(3);
  });

  it('are free again after work that fails', async () => {
    const slots = new Slots(1);
    const failing = slots.run(() => Promise.reject(new Error('failed')));
    const next = slots.run(() => Promise.resolve('done'));
    await expect(failing).rejects.toThrow('failed');
    expect(await next).toBe('done');
    expect(await slots.run(() => Promise.resolve('again'))).toBe('again');
  });
});

describe('the slots of requests that change many keys', () => {
  const objectsOn = (table: KeyValueTable): Objects => {
    const deps = { table, clock: new SetClock(), randomness: new CountedBytes() };
    return new Objects({ ...deps, buckets: new Buckets(deps), recorder: undefined });
  };

  it('are as many as share a commit, for all requests together', () => {
    const objects = objectsOn(Object.assign(new MemoryTable(), { writesPerCommit: 64 }));
    expect(objects.slotsForMany().count).toBe(64);
    expect(objects.slotsForMany()).toBe(objects.slotsForMany());
  });

  it('are each request’s own where each write is a commit', () => {
    const objects = objectsOn(new MemoryTable());
    expect(objects.slotsForMany().count).toBe(16);
    expect(objects.slotsForMany()).not.toBe(objects.slotsForMany());
  });
});

function parallel(
  mutex: KeyedMutex,
  names: readonly string[],
): { readonly running: string[]; readonly ends: (() => void)[] } {
  const running: string[] = [];
  const ends: (() => void)[] = [];
  for (const [at, name] of names.entries()) {
    void mutex.run(name, () => {
      running.push(`${name}${at}`);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  }
  return { running, ends };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('changes of one thing are made in the order they came, those of others meanwhile', async () => {
  const { running, ends } = parallel(new KeyedMutex(), ['a', 'a', 'b', 'a']);
  await settled();
  expect(running).toEqual(['a0', 'b2']);
  ends[0]!();
  await settled();
  expect(running).toEqual(['a0', 'b2', 'a1']);
  ends[2]!();
  await settled();
  expect(running).toEqual(['a0', 'b2', 'a1', 'a3']);
});

it('gives each its own result, and a failure to nobody else', async () => {
  const mutex = new KeyedMutex();
  const results = await Promise.allSettled([
    mutex.run('a', async () => 1),
    mutex.run('a', () => Promise.reject(new Error('no'))),
    mutex.run('a', async () => 3),
  ]);
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))).toEqual([1, 'failed', 3]);
  expect(await mutex.run('a', async () => 4)).toBe(4);
});
