import { describe, expect, it, vi } from 'vitest';
import { concurrencyOf } from '../../../../../local/server/capacity/capacity.ts';
import { MemoryReturn } from '../../../../../local/server/capacity/memory-return.ts';
import { Refusals } from '../../../../../local/server/capacity/refusals.ts';
import { defaultLimits } from '../../../../../shared/protocol/limits.ts';

const GiB = 1024 ** 3;
const machine = { memory: 8 * GiB, heap: 4 * GiB, freeHandles: 1_000_020 };

describe('the capacity of a process', () => {
  it('follows from the memory, which the processes share', () => {
    expect(concurrencyOf(defaultLimits, 1, machine)).toEqual({
      ...{ connections: 500_000, uploads: 2048, documents: 128, downloads: 2048, listings: 256 },
    });
    expect(concurrencyOf(defaultLimits, 4, machine)).toMatchObject({ connections: 500_000, uploads: 512 });
  });

  it('follows from the file handles, of which each process has its own', () => {
    const few = { ...machine, freeHandles: 1020 };
    const expected = { connections: 500, uploads: 250, documents: 128, downloads: 250, listings: 256 };
    expect(concurrencyOf(defaultLimits, 1, few)).toEqual(expected);
    expect(concurrencyOf(defaultLimits, 2, few)).toEqual(expected);
  });

  it('has no bound by handles where the system does not tell', () => {
    const unknown = { ...machine, freeHandles: Infinity };
    expect(concurrencyOf(defaultLimits, 1, unknown)).toMatchObject({
      connections: Infinity,
      uploads: 2048,
      downloads: 2048,
    });
  });

  it('is what is set, divided among the processes', () => {
    const limits = { concurrentConnections: 100, concurrentUploads: 9, concurrentDownloads: Infinity };
    expect(concurrencyOf(limits, 2, machine)).toMatchObject({ connections: 50, uploads: 5, downloads: 1024 });
  });

  it('of documents and listings follows from the heap, of which each process has its own', () => {
    const small = { ...machine, heap: 96 * 1024 ** 2 };
    expect(concurrencyOf(defaultLimits, 1, small)).toMatchObject({ documents: 3, listings: 64, uploads: 2048 });
    expect(concurrencyOf(defaultLimits, 4, small)).toMatchObject({ documents: 3, listings: 64, uploads: 512 });
    expect(concurrencyOf(defaultLimits, 1, { ...machine, heap: 1 })).toMatchObject({ documents: 1, listings: 64 });
  });

  it('is refused with too few handles', () => {
    expect(() => concurrencyOf(defaultLimits, 1, { ...machine, freeHandles: 35 })).toThrow('(ulimit -n) by 1');
    expect(concurrencyOf(defaultLimits, 1, { ...machine, freeHandles: 36 })).toMatchObject({
      connections: 8,
      uploads: 4,
    });
  });
});

describe('refusals', () => {
  it('are told at once, and then once a minute while there are any', () => {
    vi.useFakeTimers();
    const problem = vi.fn();
    const refusals = new Refusals({ problem });
    for (let at = 0; at < 10; at += 1) refusals.count('uploads');
    refusals.count('connections');
    expect(problem.mock.calls).toEqual([['at capacity: requests were refused', undefined, { uploads: 1 }]]);
    vi.advanceTimersByTime(60_000);
    expect(problem.mock.calls.slice(1).map(([, , fields]) => fields as unknown)).toEqual([
      { uploads: 9, connections: 1 },
    ]);
    vi.advanceTimersByTime(600_000);
    expect(problem).toHaveBeenCalledTimes(2);
    refusals.count('downloads');
    expect(problem).toHaveBeenCalledTimes(3);
    expect(refusals.totals).toEqual({ connections: 1, uploads: 10, documents: 0, downloads: 1, listings: 0 });
    vi.useRealTimers();
  });
});

describe('the return of memory', () => {
  it('follows when most of many bodies have ended, once', () => {
    const collect = vi.fn();
    let [count, peak] = [0, 0];
    const counted = {
      get count() {
        return count;
      },
      takePeak: () => peak,
    };
    const memoryReturn = new MemoryReturn([counted], { collect, utilisation: () => 0.1 });
    const look = (now: number, most = now): void => {
      [count, peak] = [now, most];
      memoryReturn.look();
    };
    [30, 0, 0, 500, 500, 400].forEach((now) => look(now));
    expect(collect).not.toHaveBeenCalled();
    [100, 0, 0, 0, 0].forEach((now) => look(now));
    expect(collect).toHaveBeenCalledTimes(1);
    look(0, 300);
    look(0);
    look(0);
    expect(collect).toHaveBeenCalledTimes(2);
    // Many ended just before a collection: their memory was no garbage yet.
    look(0, 500);
    look(0, 100);
    expect(collect).toHaveBeenCalledTimes(3);
    [0, 0, 0, 0].forEach((now) => look(now));
    expect(collect).toHaveBeenCalledTimes(4);
    memoryReturn.close();
  });

  it('follows when the process has been busy and is idle, once', () => {
    const collect = vi.fn();
    let utilisation = 0;
    const memoryReturn = new MemoryReturn([], { collect, utilisation: () => utilisation });
    const look = (now: number): void => {
      utilisation = now;
      memoryReturn.look();
    };
    // Never busy; busy and not idle for long enough.
    [0, 0, 0.1, 0, 0, 0.5, 0.9, 0.1, 0.1, 0.01, 0.1].forEach(look);
    expect(collect).not.toHaveBeenCalled();
    [0.01, 0.01, 0, 0, 0.1, 0].forEach(look);
    expect(collect).toHaveBeenCalledTimes(1);
    [0.3, 0, 0, 0, 0].forEach(look);
    expect(collect).toHaveBeenCalledTimes(2);
    memoryReturn.close();
  });
});
