import { describe, expect, it } from 'vitest';
import { foldBlanks, trimBlanks } from '../../../shared/http/blanks.ts';

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

describe('foldBlanks', () => {
  it.each([
    [' \t ', ''],
    ['\ta \t b  c ', 'a b c'],
    ['a\xa0 \xa0b', 'a\xa0 \xa0b'],
  ])('makes one space of each run of blanks inside %j', (value, folded) => {
    expect(foldBlanks(value)).toBe(folded);
  });
});
