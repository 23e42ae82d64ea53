import { describe, expect, it } from 'vitest';
import { day as dayLength } from '../../../shared/ports/durations.ts';
import { beginningOf, dayOf, daysOf, monthOf } from '../../../shared/storage/table/keys/days.ts';
import { beginDay, byteTimeUntil, decodeDay, encodeDay, stepOn } from '../../../shared/billing/storage-day.ts';

const day = '2026-11-21';
const start = Date.UTC(2026, 10, 21);
const nothing = { bytes: 0, objects: 0 };

describe('days', () => {
  it('are those of UTC', () => {
    expect(dayOf(start - 1)).toBe('2026-11-20');
    expect(dayOf(start)).toBe(day);
    expect(dayOf(start + dayLength - 1)).toBe(day);
    expect(beginningOf(day)).toBe(start);
    expect(monthOf(start)).toBe('2026-11');
  });

  it.each([
    ['2026-11', 30, '2026-11-30'],
    ['2026-12', 31, '2026-12-31'],
    ['2026-02', 28, '2026-02-28'],
    ['2028-02', 29, '2028-02-29'],
  ])('of %s are %i', (month, count, last) => {
    const days = daysOf(month)!;
    expect([days.length, days[0], days.at(-1)]).toEqual([count, `${month}-01`, last]);
    expect(new Set(days).size).toBe(count);
  });

  it.each(['2026', '2026-13', '2026-00', '2026-1', '26-11', '2026-11-21', '0001-01', ''])('%s is no month', (text) => {
    expect(daysOf(text)).toBeUndefined();
  });
});

describe('a day of storage', () => {
  it('adds up bytes times milliseconds, to the end of the day or to a moment', () => {
    let held = beginDay(day, { bytes: 10, objects: 1 });
    held = stepOn(held, { at: start + 1000, bytes: 5, objects: 1 });
    held = stepOn(held, { at: start + 3000, bytes: -15, objects: -2 });
    held = stepOn(held, { at: start + 4000, bytes: 7, objects: 1 });
    expect(held).toEqual({ bytes: 7, objects: 1, at: start + 4000, byteTime: 10_000n + 30_000n });
    expect(byteTimeUntil(day, held, start + 5000)).toBe(47_000n);
    const whole = 40_000n + 7n * BigInt(dayLength - 4000);
    expect(byteTimeUntil(day, held, start + dayLength)).toBe(whole);
    expect(byteTimeUntil(day, held, start + 10 * dayLength)).toBe(whole);
    expect(byteTimeUntil(day, held, start)).toBe(40_000n);
  });

  it('counts what comes with an earlier time from the last step on', () => {
    const held = stepOn(beginDay(day, nothing), { at: start + 2000, bytes: 1, objects: 1 });
    expect(stepOn(held, { at: start, bytes: 1, objects: 1 })).toEqual({ ...held, bytes: 2, objects: 2 });
  });

  it('is exact where a number would not be', () => {
    const large = 25 * 1024 ** 4 + 1;
    const held = stepOn(beginDay(day, { bytes: large, objects: 1 }), { at: start + 86_399_999, bytes: 0, objects: 0 });
    expect(held.byteTime).toBe(BigInt(large) * 86_399_999n);
    expect(decodeDay(encodeDay(held))).toEqual(held);
  });
});
