import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareUtf8 } from '../../../shared/ports/utf8-order.ts';
import { behindPrefix, keyBetween } from '../../../shared/storage/utf8-order.ts';
import { runs } from '../../support/runs/runs.ts';

const text = fc.string({ unit: 'binary', maxLength: 8 });
/** Few letters, so that strings share beginnings; the borders of UTF-8 and UTF-16 among them. */
const borderText = fc.string({
  unit: fc.constantFrom(
    'a',
    '\u0001',
    '\u007f',
    '\u0080',
    '\u07ff',
    '\ud7ff',
    '\ue000',
    '\ufffd',
    '\u{10000}',
    '\u{10ffff}',
  ),
  maxLength: 4,
});
const anyText = fc.oneof(text, borderText);

function bytesOrder(a: string, b: string): number {
  return Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

describe('compareUtf8', () => {
  it('orders as the bytes do', () => {
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        expect(Math.sign(compareUtf8(a, b))).toBe(bytesOrder(a, b));
      }),
      { numRuns: runs(2000) },
    );
  });

  it('puts astral characters behind U+FFFD, which `<` does not', () => {
    const [astral, last] = ['😀', '\ufffd'] as const;
    expect(compareUtf8(astral, last)).toBeGreaterThan(0);
    expect([last, astral].sort()).toEqual([astral, last]);
  });
});

describe('behindPrefix', () => {
  it.each([
    ['foo/', 'foo0'],
    ['a\u007f', 'a\u0080'],
    ['a\ud7ff', 'a\ue000'],
    ['a\uffff', 'a\u{10000}'],
    ['a\u{1f600}', 'a\u{1f601}'],
    ['a\u{10ffff}', 'b'],
    ['a\u{10ffff}\u{10ffff}', 'b'],
  ])('%j → from %j', (prefix, from) => {
    expect(behindPrefix(prefix)).toEqual({ from });
  });

  it('finds nothing behind the greatest code point', () => {
    expect(behindPrefix('\u{10ffff}\u{10ffff}')).toBeUndefined();
  });

  it('lies behind every key with the prefix, and before or at every greater key without it', () => {
    fc.assert(
      fc.property(anyText, anyText, (prefix, key) => {
        fc.pre(prefix !== '');
        const start = behindPrefix(prefix);
        const reached = start !== undefined && bytesOrder(key, start.from!) >= 0;
        expect(reached).toBe(!key.startsWith(prefix) && bytesOrder(key, prefix) > 0);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('never answers more than 1,024 bytes, and loses no key of up to 1,024 bytes', () => {
    const lastCharacters = fc.string({
      unit: fc.constantFrom('a', '\u007f', '\u0080', '\u07ff', '\u0800', '\uffff', '\u{10000}', '\u{10ffff}'),
      maxLength: 6,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1015, max: 1024 }), lastCharacters, lastCharacters, (length, end, keyEnd) => {
        const prefix = 'k'.repeat(length) + end;
        const key = 'k'.repeat(length) + keyEnd;
        fc.pre(Buffer.byteLength(key) <= 1024);
        const start = behindPrefix(prefix)!;
        const place = start.from ?? start.after!;
        expect(Buffer.byteLength(place)).toBeLessThanOrEqual(1024);
        const reached = start.from === undefined ? bytesOrder(key, place) > 0 : bytesOrder(key, place) >= 0;
        expect(reached).toBe(!key.startsWith(prefix) && bytesOrder(key, prefix) > 0);
      }),
      { numRuns: runs(2000) },
    );
  });
});

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
