import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sortKeyRange, successor } from '../../../../../shared/adapters/cloud/dynamodb/sort-key-range.ts';
import type { QueryOptions } from '../../../../../shared/ports/key-value-table.ts';
import { runs } from '../../../../support/runs/runs.ts';

/** Characters at the borders of UTF-8's and UTF-16's lengths. */
const character = fc.constantFrom(
  'a',
  '/',
  '\u007f',
  '\u0080',
  '\u07ff',
  '\u0800',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '\u{10000}',
  '\u{10ffff}',
);
const text = fc.string({ unit: character, maxLength: 4 });
/** Around the longest sort key. */
const longText = fc
  .tuple(fc.constantFrom(1019, 1020, 1021, 1022, 1023), text)
  .map(([length, end]) => 'a'.repeat(length) + end);
const bytes = (key: string) => Buffer.byteLength(key);
const inOrder = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Returns the result that the port specifies. */
function wanted(keys: string[], { from, after, prefix, reverse }: QueryOptions): string[] {
  const walk = reverse ? keys.toReversed() : keys;
  return walk.filter(
    (key) =>
      key.startsWith(prefix ?? '') &&
      inOrder(key, from ?? '') >= 0 &&
      (after === undefined || (reverse ? inOrder(key, after) < 0 : inOrder(key, after) > 0)),
  );
}

/** Returns DynamoDB's result for the range, after filtering. */
function walked(keys: string[], options: QueryOptions): string[] {
  const range = sortKeyRange(options);
  if (range === undefined) return [];
  const { low, high, start, contains } = range;
  for (const bound of [low, high, start]) {
    if (bound !== undefined) expect(bytes(bound)).toSatisfy((length: number) => length >= 1 && length <= 1024);
  }
  // DynamoDB refuses BETWEEN in the wrong order, and a start that its condition excludes.
  if (low !== undefined && high !== undefined) expect(inOrder(low, high)).toBeLessThanOrEqual(0);
  if (start !== undefined && low !== undefined) expect(inOrder(low, start)).toBeLessThanOrEqual(0);
  if (start !== undefined && high !== undefined) expect(inOrder(start, high)).toBeLessThanOrEqual(0);
  const answered = (options.reverse ? keys.toReversed() : keys).filter(
    (key) =>
      (low === undefined || inOrder(key, low) >= 0) &&
      (high === undefined || inOrder(key, high) <= 0) &&
      (start === undefined || (options.reverse ? inOrder(key, start) < 0 : inOrder(key, start) > 0)),
  );
  return answered.filter(contains);
}

describe.each([
  ['short keys', text],
  ['keys at the limit of their length', longText],
])('sortKeyRange over %s', (_, keyText) => {
  it('walks what is wanted, for any options', () => {
    const options = fc.record(
      { from: keyText, after: keyText, prefix: keyText, reverse: fc.boolean() },
      { requiredKeys: [] },
    );
    const keys = fc.uniqueArray(
      keyText.filter((key) => key !== '' && bytes(key) <= 1024),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(keys, options, (stored, asked) => {
        const sorted = stored.toSorted(inOrder);
        expect(walked(sorted, asked)).toEqual(wanted(sorted, asked));
      }),
      { numRuns: runs(500) },
    );
  });
});

describe('sortKeyRange', () => {
  it('reads at most one key too many where the bounds are short enough to be asked for', () => {
    const keys = fc.uniqueArray(
      text.filter((key) => key !== ''),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(keys, fc.record({ from: text, prefix: text }), (stored, asked) => {
        const { low, high } = sortKeyRange(asked) ?? {};
        const read = stored.filter(
          (key) => inOrder(key, low ?? '') >= 0 && (high === undefined || inOrder(key, high) <= 0),
        );
        if (sortKeyRange(asked)) expect(read.length - wanted(stored, asked).length).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('successor', () => {
  it.each([
    ['a', 'b'],
    ['a/', 'a0'],
    ['\u007f', '\u0080'],
    ['\ud7ff', '\ue000'],
    ['\uffff', '\u{10000}'],
    ['a\u{10ffff}', 'b'],
    ['a\u{10ffff}\u{10ffff}', 'b'],
    ['\u{10ffff}', undefined],
    ['', undefined],
  ])('of %j is %j', (prefix, expected) => {
    expect(successor(prefix)).toBe(expected);
  });
});
