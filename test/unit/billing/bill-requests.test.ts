import { describe, expect, it } from 'vitest';
import { LastUses } from '../../../shared/accounts/key-uses.ts';
import { billRequests } from '../../../shared/billing/bill-requests.ts';
import { projectUsage } from '../../../shared/billing/project-usage.ts';
import { RequestHours } from '../../../shared/billing/request-hours.ts';
import { RequestMeter } from '../../../shared/billing/request-meter.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import type { LoggedRequests, RequestLog } from '../../../shared/ports/request-log.ts';
import { SetClock } from '../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../support/storage/memory-table.ts';

const hour = 60 * 60 * 1000;
const day = '2026-11-21';
const noon = Date.UTC(2026, 10, 21, 12);
const never = (): boolean => false;

/** A log of requests of one byte each way, which can be late, or out of order. */
class Log implements RequestLog {
  readonly lines: { readonly at: number; readonly class: string; readonly use?: LoggedRequests['use'] }[] = [];
  readonly asked: (readonly [from: number, until: number])[] = [];
  failing = false;

  async between(from: number, until: number): Promise<readonly LoggedRequests[]> {
    this.asked.push([from, until]);
    if (this.failing) throw new Error('no answer');
    return this.lines
      .filter(({ at }) => at >= from && at < until)
      .map(({ class: kind, use }) => ({ payer: 'project', class: kind, requests: 1, bytesIn: 1, bytesOut: 1, use }));
  }
}

function world() {
  const table = new MemoryTable();
  const clock = new SetClock(noon + hour / 2);
  const requestLog = new Log();
  const randomness = new CryptoRandomness();
  const requestHours = new RequestHours({ table, randomness });
  const lastUses = new LastUses({ table });
  const run = (stopping = never) => billRequests({ requestLog, requestHours, lastUses, clock }, stopping);
  const billed = async (on = day) => {
    const [{ a, b, free, bytesIn } = { a: 0, b: 0, free: 0, bytesIn: 0 }] = await projectUsage(
      ...([table, 'project', [on], clock.now()] as const),
    );
    return { a, b, free, bytesIn };
  };
  return { table, clock, requestLog, requestHours, lastUses, run, billed };
}

describe('the bill of requests', () => {
  it('is what the log says, however often it is counted', async () => {
    const { requestLog, run, billed, clock } = world();
    requestLog.lines.push({ at: noon - 1, class: 'a' }, { at: noon, class: 'b' }, { at: noon + 1, class: 'b' });
    await run();
    await run();
    expect(await billed()).toEqual({ a: 1, b: 2, free: 0, bytesIn: 3 });
    requestLog.lines.push({ at: clock.time, class: 'free' });
    clock.time += hour;
    await run();
    expect(await billed()).toEqual({ a: 1, b: 2, free: 1, bytesIn: 4 });
  });

  it('has what was late, up to an hour', async () => {
    const { requestLog, run, billed, clock } = world();
    clock.time = noon + 59 * 60_000;
    requestLog.lines.push({ at: noon - 2, class: 'a' });
    await run();
    requestLog.lines.push({ at: noon - 1, class: 'a' });
    clock.time += 1;
    await run();
    expect((await billed()).a).toBe(2);
  });

  it('begins with the day before, and afterwards with the first hour that is not settled', async () => {
    const { requestLog, run, clock } = world();
    expect(await run()).toEqual({ hours: 25, settledUntil: '2026-11-21T11:00:00.000Z', behindSeconds: 5400 });
    expect(requestLog.asked[0]).toEqual([noon - 24 * hour, noon - 23 * hour]);
    expect(requestLog.asked.at(-1)).toEqual([noon, clock.time]);
    requestLog.asked.length = 0;
    clock.time = noon + 3 * hour;
    expect(await run()).toEqual({ hours: 4, settledUntil: '2026-11-21T14:00:00.000Z', behindSeconds: 3600 });
    expect(requestLog.asked).toEqual([11, 12, 13, 14].map((at) => [noon + (at - 12) * hour, noon + (at - 11) * hour]));
  });

  it('makes up for what it could not do, and goes on where its time was up', async () => {
    const { requestLog, run, billed, clock } = world();
    await run();
    requestLog.failing = true;
    requestLog.lines.push({ at: noon + 2 * hour, class: 'a' });
    clock.time = noon + 3 * hour;
    await expect(run()).rejects.toThrow('no answer');
    requestLog.failing = false;
    clock.time = noon + 10 * hour;
    let hours = 0;
    expect(await run(() => (hours += 1) > 2)).toEqual({
      hours: 2,
      settledUntil: '2026-11-21T13:00:00.000Z',
      behindSeconds: 9 * 3600,
    });
    expect(await run()).toEqual({ hours: 9, settledUntil: '2026-11-21T21:00:00.000Z', behindSeconds: 3600 });
    expect((await billed()).a).toBe(1);
  });

  it('puts requests on the day of their hour, beside those that a process has counted itself', async () => {
    const { table, requestLog, run, billed, clock } = world();
    const meter = new RequestMeter({ table, clock, randomness: new CryptoRandomness() });
    meter.count({ project: 'project', class: 'a', bytesIn: 5, bytesOut: 0 });
    await meter.flush();
    clock.time = Date.UTC(2026, 10, 22, 0, 30);
    requestLog.lines.push({ at: Date.UTC(2026, 10, 22) - 1, class: 'a' }, { at: Date.UTC(2026, 10, 22), class: 'b' });
    await run();
    expect(await billed()).toEqual({ a: 2, b: 0, free: 0, bytesIn: 6 });
    expect(await billed('2026-11-22')).toEqual({ a: 0, b: 1, free: 0, bytesIn: 1 });
  });

  it('comes with the last uses of keys, which cost nothing', async () => {
    const { requestLog, lastUses, run, billed } = world();
    const use = (at: number, id = 'AKIA1') => ({ at, class: 'free', use: { id, service: 's3', at } });
    requestLog.lines.push(use(noon + 5), use(noon - 5), use(noon, 'AKIA2'));
    await run();
    await run();
    expect(await lastUses.of('AKIA1')).toEqual({ service: 's3', at: noon + 5 });
    expect(await lastUses.of('AKIA2')).toEqual({ service: 's3', at: noon });
    expect(await lastUses.of('AKIA3')).toBeUndefined();
    expect(await billed()).toEqual({ a: 0, b: 0, free: 0, bytesIn: 0 });
  });

  it('keeps what others have read further on in the log', async () => {
    const { table, requestHours, billed } = world();
    const requests = (count: number): LoggedRequests[] => [
      { payer: 'project', class: 'a', requests: count, bytesIn: 0, bytesOut: 0 },
    ];
    await requestHours.put(noon, noon + 20, requests(2));
    await requestHours.put(noon, noon + 10, requests(1));
    expect((await billed()).a).toBe(2);
    await requestHours.settle(noon + hour);
    await requestHours.settle(noon);
    expect(await requestHours.settledUntil()).toBe(noon + hour);
    table.write = async () => ({ outcome: 'unknown' });
    await expect(requestHours.put(noon, noon + 30, requests(3))).rejects.toThrow(
      'the outcome of storing an hour of requests is unknown',
    );
  });

  it('knows the classes of the price list alone', async () => {
    const { requestLog, run } = world();
    requestLog.lines.push({ at: noon, class: 'gold' });
    await expect(run()).rejects.toThrow('unknown request class "gold"');
  });
});
