import type { RootDatabase } from 'lmdb';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { GroupCommit } from '../../../../shared/adapters/embedded/group-commit.ts';
import { TableBusy } from '../../../../shared/ports/key-value-table.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** An engine that begins a transaction only when it is told to. */
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
