import { describe, expect, it } from 'vitest';
import { RateExceeded, RateLimit } from '../../../shared/protocol/rate-limit.ts';
import { SetClock } from '../../support/storage/fixed-deps.ts';

function limited(perSecond: number) {
  const clock = new SetClock();
  const limit = new RateLimit(perSecond, clock);
  const admitted = (party: string, count: number): number => {
    let sum = 0;
    for (let at = 0; at < count; at += 1) {
      try {
        limit.admit(party);
        sum += 1;
      } catch (error) {
        if (!(error instanceof RateExceeded)) throw error;
      }
    }
    return sum;
  };
  return { clock, admitted };
}

describe('RateLimit', () => {
  it.each([1, 3, 7, 60])('admits %i requests a second, all at once or spread, and not one more', (perSecond) => {
    const { clock, admitted } = limited(perSecond);
    expect(admitted('a', perSecond + 1)).toBe(perSecond);
    clock.time += 1000;
    expect(admitted('a', perSecond + 1)).toBe(perSecond);
    let spread = 0;
    for (let at = 0; at < 500; at += 1) {
      clock.time += 20;
      spread += admitted('a', 3);
    }
    // The resolution of the clock may cost one request, but never adds one.
    expect(spread).toBeLessThanOrEqual(perSecond * 10);
    expect(spread).toBeGreaterThanOrEqual(perSecond * 10 - 1);
  });

  it('does not let requests of a longer pause pile up', () => {
    const { clock, admitted } = limited(5);
    admitted('a', 1);
    clock.time += 3600_000;
    expect(admitted('a', 100)).toBe(5);
  });

  it('counts each party by itself, and refused requests not at all', () => {
    const { clock, admitted } = limited(2);
    expect(admitted('a', 1000)).toBe(2);
    expect(admitted('b', 3)).toBe(2);
    clock.time += 500;
    expect(admitted('a', 3)).toBe(1);
  });

  it('refuses nobody where there is no limit', () => {
    expect(limited(Infinity).admitted('a', 1000)).toBe(1000);
  });

  it('gives nothing and takes nothing if the clock is set back', () => {
    const { clock, admitted } = limited(2);
    expect(admitted('a', 2)).toBe(2);
    clock.time -= 3600_000;
    expect(admitted('a', 1)).toBe(0);
    clock.time += 1000;
    expect(admitted('a', 3)).toBe(2);
  });

  it('remembers a caller who asked a moment ago while it forgets the others', () => {
    const { clock, admitted } = limited(2);
    admitted('early', 2);
    clock.time += 59_900;
    admitted('late', 2);
    clock.time += 100;
    expect(admitted('early', 3)).toBe(2);
    expect(admitted('late', 3)).toBe(0);
  });
});
