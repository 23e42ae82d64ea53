import { beforeEach, describe, expect, it } from 'vitest';
import { BackupLease, heldUntil } from '../../../../../local/server/backup/backup-leases.ts';
import { CryptoRandomness } from '../../../../../shared/adapters/system/crypto-randomness.ts';
import { MemoryTable } from '../../../../support/storage/memory-table.ts';
import { StepClock } from '../../../../support/storage/step-clock.ts';

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
