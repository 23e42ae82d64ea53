import { describe, expect, it } from 'vitest';
import { projectUsage } from '../../../shared/billing/project-usage.ts';
import { noRequests, RequestMeter } from '../../../shared/billing/request-meter.ts';
import type { RequestTally } from '../../../shared/billing/request-meter.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import type { WriteOutcome } from '../../../shared/ports/key-value-table.ts';
import { SetClock } from '../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../support/storage/memory-table.ts';

const clock = new SetClock(Date.UTC(2026, 10, 21, 23, 59, 59));
const day = '2026-11-21';
const get = { project: 'project', class: 'b', bytesIn: 0, bytesOut: 10 } as const;
const put = { project: 'project', class: 'a', bytesIn: 5, bytesOut: 0 } as const;
/** All meters write to the same slot. */
const randomness = { bytes: (count: number) => new CryptoRandomness().bytes(count).map((byte) => byte & 0xf0) };

async function usageOf(table: MemoryTable, project = 'project', on = day): Promise<RequestTally> {
  const [found] = await projectUsage(table, project, [on], clock.now());
  const { a, b, free, bytesIn, bytesOut } = found ?? noRequests;
  return { a, b, free, bytesIn, bytesOut };
}

function deps(table = new MemoryTable()) {
  return { table, meter: new RequestMeter({ table, clock, randomness: new CryptoRandomness() }) };
}

/** A table whose next writes have the given outcomes. */
class Moody extends MemoryTable {
  readonly outcomes: ('conflict' | 'unknown' | Error)[] = [];

  override async write(...write: Parameters<MemoryTable['write']>): Promise<WriteOutcome> {
    const outcome = this.outcomes.shift();
    if (outcome === undefined) return super.write(...write);
    if (outcome instanceof Error) throw outcome;
    return outcome === 'unknown' ? { outcome } : { outcome, failed: [] };
  }
}

describe('RequestMeter', () => {
  it('writes nothing until it is told to, and then once', async () => {
    const { table, meter } = deps();
    for (const request of [get, get, put, { ...get, class: 'free', bytesOut: 0 } as const]) meter.count(request);
    expect(await usageOf(table)).toEqual(noRequests);
    await meter.flush();
    await meter.flush();
    expect(await usageOf(table)).toEqual({ a: 1, b: 2, free: 1, bytesIn: 5, bytesOut: 20 });
    expect(table.calls.write).toBe(1);
    meter.count(put);
    await meter.flush();
    expect(await usageOf(table)).toEqual({ a: 2, b: 2, free: 1, bytesIn: 10, bytesOut: 20 });
  });

  it('keeps projects apart, and the days in which requests ended', async () => {
    const { table, meter } = deps();
    meter.count(get);
    meter.count({ ...get, project: 'other', bytesOut: 1 });
    clock.time += 1000;
    meter.count(put);
    await meter.flush();
    expect(await usageOf(table)).toEqual({ ...noRequests, b: 1, bytesOut: 10 });
    expect(await usageOf(table, 'other')).toEqual({ ...noRequests, b: 1, bytesOut: 1 });
    expect(await usageOf(table, 'project', '2026-11-22')).toEqual({ ...noRequests, a: 1, bytesIn: 5 });
    clock.time -= 1000;
  });

  it('adds up what several processes count, which meet in the same item', async () => {
    const table = new MemoryTable();
    const meters = Array.from({ length: 6 }, () => new RequestMeter({ table, clock, randomness }));
    for (let round = 0; round < 5; round += 1) {
      for (const meter of meters) meter.count(get);
      await Promise.all(meters.map((meter) => meter.flush()));
    }
    // Who was always too late tries again.
    for (const meter of meters) await meter.flush();
    expect(await usageOf(table)).toEqual({ ...noRequests, b: 30, bytesOut: 300 });
  });

  it('keeps what it could not write, and bills nothing twice', async () => {
    const table = new Moody();
    const { meter } = deps(table);
    meter.count(get);
    meter.count({ ...get, project: 'other' });
    table.outcomes.push(new Error('the table is gone'));
    await expect(meter.flush()).rejects.toThrow('the table is gone');
    table.outcomes.push(...Array<'conflict'>(8).fill('conflict'));
    await meter.flush();
    expect(await usageOf(table)).toEqual(noRequests);
    await meter.flush();
    for (const project of ['project', 'other']) {
      expect(await usageOf(table, project)).toEqual({ ...noRequests, b: 1, bytesOut: 10 });
    }
    meter.count(get);
    table.outcomes.push('unknown');
    await meter.flush();
    await meter.flush();
    expect(await usageOf(table)).toEqual({ ...noRequests, b: 1, bytesOut: 10 });
  });
});
