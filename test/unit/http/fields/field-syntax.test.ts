import { describe, expect, it } from 'vitest';
import { foldBlanks, trimBlanks } from '../../../../shared/http/fields/field-syntax.ts';

describe('trimBlanks', () => {
  it.each([
    ['', ''],
    [' \t ', ''],
    ['a', 'a'],
    [' \ta \t b\t ', 'a \t b'],
    // The bytes of UTF-8: `à` ends in 0xA0, which is a blank to JavaScript.
    ['\xc3\xa0', '\xc3\xa0'],
    ['\xa0a\v\f\u2028', '\xa0a\v\f\u2028'],
  ])('takes spaces and tabs from the ends of %j, and nothing else', (value, trimmed) => {
    expect(trimBlanks(value)).toBe(trimmed);
  });
});

describe('trimBlanks, counted in characters that it looks at,', () => {
  /** How many, of a value of this many characters. */
  function looked(value: string, trimmed: string): number {
    let count = 0;
    const counting = {
      length: value.length,
      charCodeAt: (at: number) => ((count += 1), value.charCodeAt(at)),
      slice: (start: number, end: number) => value.slice(start, end),
    };
    expect(trimBlanks(counting as unknown as string)).toBe(trimmed);
    return count;
  }

  it.each([10, 1000])('stops at the first that is no blank: %d blanks', (blanks) => {
    const run = ' '.repeat(blanks);
    expect(looked(`a${run}b`, `a${run}b`)).toBe(2);
    expect(looked(`${run}a${run}b${run}`, `a${run}b`)).toBe(2 * blanks + 2);
    const runs = `${`a${run}`.repeat(10)}b`;
    expect(looked(runs, runs)).toBe(2);
  });
});

describe('foldBlanks', () => {
  it.each([
    [' \t ', ''],
    ['\ta \t b  c ', 'a b c'],
    ['a\xa0 \xa0b', 'a\xa0 \xa0b'],
  ])('makes one space of each run of blanks inside %j', (value, folded) => {
    expect(foldBlanks(value)).toBe(folded);
  });
});
