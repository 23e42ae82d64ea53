import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareUtf8 } from '../../../shared/ports/utf8-order.ts';
import { behindPrefix } from '../../../shared/metadata/utf8-order.ts';
import { runs } from '../../support/runs.ts';

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
    expect(compareUtf8('😀', '\ufffd')).toBeGreaterThan(0);
    expect('😀' < '\ufffd').toBe(true);
  });
});

describe('behindPrefix', { timeout: 30_000 }, () => {
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
