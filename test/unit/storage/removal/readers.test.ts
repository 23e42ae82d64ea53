import { describe, expect, it } from 'vitest';
import { ServiceReaders } from '../../../../local/server/release/service-readers.ts';
import { SystemClock } from '../../../../shared/adapters/system/system-clock.ts';
import { Readers, type ReadersState } from '../../../../shared/storage/removal/readers.ts';

describe('the requests of a process', () => {
  it('may find anything from their beginning to their end', () => {
    const readers = new Readers();
    expect(readers.state()).toEqual({ next: 1, oldest: 1, held: [] });
    const [first, second] = [readers.begin(), readers.begin()];
    expect(readers.state()).toMatchObject({ next: 3, oldest: 1 });
    first.end();
    first.end();
    expect(readers.state()).toMatchObject({ next: 3, oldest: 2 });
    second.end();
    expect(readers.state()).toEqual({ next: 3, oldest: 3, held: [] });
  });

  it('hold what they have found until they end, and nothing else while they wait for their clients', () => {
    const readers = new Readers();
    const [first, second] = [readers.begin(), readers.begin()];
    first.hold(['b1', 'd1']);
    second.hold(['b1', 'b1']);
    first.wait();
    second.wait();
    expect(readers.state()).toEqual({ next: 3, oldest: 3, held: ['b1', 'd1'] });
    first.end();
    expect(readers.state().held).toEqual(['b1']);
    second.end();
    expect(readers.state().held).toEqual([]);
  });

  it('begin anew when they work again, and count as long as any part of them works', async () => {
    const readers = new Readers();
    const reader = readers.begin();
    reader.wait();
    let finish = (): void => undefined;
    const work = reader.working(() => new Promise<void>((resolve) => (finish = resolve)));
    expect(readers.state()).toMatchObject({ next: 3, oldest: 2 });
    reader.resume();
    reader.wait();
    expect(readers.state()).toMatchObject({ oldest: 2 });
    finish();
    await work;
    expect(readers.state()).toMatchObject({ next: 3, oldest: 3 });
  });

  it('count no more after their end, whatever is still under way', () => {
    const readers = new Readers();
    const reader = readers.begin();
    reader.wait();
    reader.end();
    reader.resume();
    reader.hold(['b1']);
    expect(readers.state()).toEqual({ next: 2, oldest: 2, held: [] });
  });
});

describe('the requests of all processes', () => {
  const clock = new SystemClock();
  /** Whether a promise is still pending after a while. */
  const isPending = async (promise: Promise<unknown>): Promise<boolean> => {
    const late = new Promise((resolve) => setTimeout(resolve, 30, 'late'));
    return (await Promise.race([promise, late])) === 'late';
  };

  it('that began before are waited for, later ones are not', async () => {
    const readers = new Readers();
    const all = new ServiceReaders(readers, clock);
    const earlier = readers.begin();
    const passed = all.passed();
    expect(await isPending(passed)).toBe(true);
    const later = readers.begin();
    later.hold(['b2']);
    earlier.end();
    const held = await passed;
    expect([held.has('b1'), held.has('b2')]).toEqual([false, true]);
    expect(await isPending(all.passed())).toBe(true);
    later.end();
  });

  it('are waited for wherever they run, and end with their process alone', async () => {
    const all = new ServiceReaders(new Readers(), clock);
    const other = new Readers();
    other.begin();
    let answer: () => Promise<ReadersState> = async () => other.state();
    const ended = all.add({ readers: () => answer() });
    const passed = all.passed();
    expect(await isPending(passed)).toBe(true);
    // A process whose link is broken may still be running.
    answer = () => Promise.reject(new Error('gone'));
    expect(await isPending(passed)).toBe(true);
    ended();
    expect((await passed).has('b1')).toBe(false);
  });

  it('hold everything once the service stops', async () => {
    const readers = new Readers();
    readers.begin();
    const all = new ServiceReaders(readers, clock);
    const passed = all.passed();
    all.stop();
    expect((await passed).has('anything')).toBe(true);
  });
});
