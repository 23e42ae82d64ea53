import { beforeEach, describe, expect, it } from 'vitest';
import { BackupLease, heldUntil } from '../../../../../local/server/backup/backup-leases.ts';
import { CryptoRandomness } from '../../../../../shared/adapters/system/crypto-randomness.ts';
import type { Clock } from '../../../../../shared/ports/clock.ts';
import { MemoryTable } from '../../../../support/storage/memory-table.ts';

/** A clock whose sleepers wake when it is set. */
class StepClock implements Clock {
  time = 1_000_000;
  readonly #sleepers: { readonly at: number; readonly wake: () => void }[] = [];

  now(): number {
    return this.time;
  }

  sleep(milliseconds: number, until?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        until?.removeEventListener('abort', wake);
        resolve();
      };
      until?.addEventListener('abort', wake);
      this.#sleepers.push({ at: this.time + milliseconds, wake });
    });
  }

  /** Lets time pass, and what waited for it go on. */
  async pass(milliseconds: number): Promise<void> {
    this.time += milliseconds;
    for (const { at, wake } of this.#sleepers) if (at <= this.time) wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

let table: MemoryTable;
let clock: StepClock;
beforeEach(() => {
  table = new MemoryTable();
  clock = new StepClock();
});

const take = (): Promise<BackupLease> => BackupLease.take({ table, clock, randomness: new CryptoRandomness() });
const held = (): Promise<number> => heldUntil(table, clock.now());

describe('the lease of a backup', () => {
  it('holds everything until the moment is known, then what was written until then, and nothing once it has ended', async () => {
    expect(await held()).toBe(-Infinity);
    const lease = await take();
    expect(await held()).toBe(Infinity);
    await lease.needsUntil(clock.now());
    expect(await held()).toBe(clock.now());
    await lease.end();
    expect(await held()).toBe(-Infinity);
  });

  it('is renewed as long as its process works', async () => {
    const lease = await take();
    const moment = clock.now();
    await lease.needsUntil(moment);
    for (let step = 0; step < 40; step += 1) await clock.pass(15_000);
    expect(await held()).toBe(moment);
    lease.check();
    await lease.end();
  });

  it('ends by time when its process was stopped, which then knows that it is lost', async () => {
    const lease = await take();
    await lease.needsUntil(clock.now());
    await clock.pass(10 * 60_000);
    expect(await held()).toBe(-Infinity);
    expect(() => lease.check()).toThrow(/^the lease on the content of the backup has ended/);
    await clock.pass(15_000);
    expect(await held()).toBe(-Infinity);
    await lease.end();
  });

  it('is one of several, of which the latest moment counts; the next backup removes those of dead ones', async () => {
    const [one, other] = [await take(), await take()];
    await one.needsUntil(1);
    expect(await held()).toBe(Infinity);
    await other.needsUntil(2);
    expect(await held()).toBe(2);
    await other.end();
    expect(await held()).toBe(1);
    clock.time += 10 * 60_000;
    const next = await take();
    expect((await table.query('backup-leases')).items).toHaveLength(1);
    await Promise.all([one.end(), next.end()]);
    expect((await table.query('backup-leases')).items).toHaveLength(0);
  });
});
