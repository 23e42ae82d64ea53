import type { RootDatabase } from 'lmdb';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { GroupCommit, maxJobs } from '../../../../../shared/adapters/embedded/table/group-commit.ts';
import { TableBusy } from '../../../../../shared/ports/key-value-table.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** An engine whose transactions the test begins. */
class SlowEngine {
  readonly begun: (() => void)[] = [];

  childTransaction(act: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.begun.push(() => {
        act();
        resolve();
      });
    });
  }
}

it('refuses jobs whose transaction does not begin, and never runs them; those behind have their own time', async () => {
  const engine = new SlowEngine();
  const commits = new GroupCommit(engine as unknown as RootDatabase);
  const ran: string[] = [];
  const first = commits.run(() => ran.push('first'));
  const refused = expect(first).rejects.toBeInstanceOf(TableBusy);
  await vi.advanceTimersByTimeAsync(30_000);
  await refused;

  const second = commits.run(() => ran.push('second'));
  await vi.advanceTimersByTimeAsync(29_000);
  expect(engine.begun).toHaveLength(1);
  engine.begun[0]!();
  expect(await second).toBe(1);
  expect(ran).toEqual(['second']);
  expect(vi.getTimerCount()).toBe(0);
});

it('runs many jobs in several transactions, in order, so that other requests have turns between them', async () => {
  const engine = new SlowEngine();
  const commits = new GroupCommit(engine as unknown as RootDatabase);
  const count = 2 * maxJobs + 10;
  const ran: number[] = [];
  const all = Promise.all(Array.from({ length: count }, (_, at) => commits.run(() => ran.push(at))));
  let isSettled = false;
  const settled = commits.settled().then(() => (isSettled = true));

  const sizes: number[] = [];
  for (let transaction = 0; transaction < 3; transaction += 1) {
    expect(engine.begun).toHaveLength(transaction + 1);
    const before = ran.length;
    engine.begun[transaction]!();
    // The engine would add work queued during a transaction to it.
    expect(engine.begun).toHaveLength(transaction + 1);
    sizes.push(ran.length - before);
    expect(isSettled).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
  }
  await settled;
  await all;
  expect(sizes).toEqual([maxJobs, maxJobs, 10]);
  expect(ran).toEqual(Array.from({ length: count }, (_, at) => at));
  expect(engine.begun).toHaveLength(3);
  expect(vi.getTimerCount()).toBe(0);
});
