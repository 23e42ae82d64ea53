import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyBetween } from '../../../shared/metadata/key-middle.ts';
import { compareUtf8 } from '../../../shared/ports/utf8-order.ts';
import { runs } from '../../support/runs.ts';

describe('a string between two keys', () => {
  it.each([
    ['a', 'c', 'b'],
    ['logs/2020', 'logs/2026', 'logs/2023'],
    ['logs/0000', 'logs/9999', 'logs/5'],
    ['a', 'b', 'b'],
    ['a', 'az', 'a='],
    ['a', 'a\u0001', 'a\u0001'],
    ['\ud7ff', '\ue001', '\ue000'],
    ['é', '😀', '\ufb75'],
  ])('%j … %j: %j', (low, high, middle) => {
    expect(keyBetween(low, high)).toBe(middle);
  });

  it.each([
    ['equal', 'a', 'a'],
    ['the wrong way round', 'b', 'a'],
    ['the longer first', 'ab', 'a'],
  ])('is not there if they are %s', (_, low, high) => {
    expect(keyBetween(low, high)).toBeUndefined();
  });

  it('is behind the first and not behind the last, and can be looked for', () => {
    const key = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !text.includes('\0'));
    fc.assert(
      fc.property(key, key, key, (shared, one, other) => {
        const [low, high] = [shared + one, shared + other].sort(compareUtf8) as [string, string];
        const middle = keyBetween(low, high);
        if (low === high) {
          expect(middle).toBeUndefined();
          return;
        }
        expect(middle).toBeDefined();
        expect(compareUtf8(low, middle!)).toBeLessThan(0);
        expect(compareUtf8(middle!, high)).toBeLessThanOrEqual(0);
        expect(middle).not.toMatch(/\p{Surrogate}/u);
        expect(Buffer.byteLength(middle!)).toBeLessThanOrEqual(1024);
      }),
      { numRuns: runs(300) },
    );
  });
});
