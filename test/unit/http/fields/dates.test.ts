import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatHttpDate, parseHttpDate, parseIsoDate, parseTimestamp } from '../../../../shared/http/fields/dates.ts';

const moment = Date.UTC(1994, 10, 6, 8, 49, 37);

describe('HTTP dates', () => {
  it.each([
    'Sun, 06 Nov 1994 08:49:37 GMT',
    ' Sun, 06 Nov 1994 08:49:37 GMT ',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 06 Nov 1994 08:49:37 -0000',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
  ])('%j is read', (text) => {
    expect(parseHttpDate(text)).toBe(moment);
  });

  it('two digits of a year mean 1970 to 2069', () => {
    expect(parseHttpDate('Friday, 01-Jan-69 00:00:00 GMT')).toBe(Date.UTC(2069, 0, 1));
    expect(parseHttpDate('Friday, 01-Jan-70 00:00:00 GMT')).toBe(0);
  });

  it.each([
    '',
    'now',
    '0',
    '784111777',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 +0100',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:49:37 GMT',
    'Sun, 06 Nov 1994 08:60:37 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    'Sun, 06 Nov 94 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
    '1994-11-06T08:49:37Z',
  ])('%j is none', (text) => {
    expect(parseHttpDate(text)).toBeUndefined();
  });

  it('are written by the second', () => {
    expect(formatHttpDate(moment + 999)).toBe('Sun, 06 Nov 1994 08:49:37 GMT');
  });
});

describe('ISO 8601', () => {
  it.each([
    ['1994-11-06T08:49:37Z', moment],
    ['1994-11-06T08:49:37.5Z', moment + 500],
    ['1994-11-06T08:49:37.123456789Z', moment + 123],
    ['1994-11-06t08:49:37z', moment],
    ['1994-11-06T10:19:37+01:30', moment],
    ['1994-11-06T07:49:37-0100', moment],
    ['1994-11-06', Date.UTC(1994, 10, 6)],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['0099-01-01T00:00:00Z', Date.parse('0099-01-01T00:00:00Z')],
  ])('%j is read', (text, expected) => {
    expect(parseIsoDate(text)).toBe(expected);
  });

  it.each([
    '',
    '1994-11-06T08:49:37',
    '1994-11-06T08:49Z',
    '1994-11-06 08:49:37Z',
    '1994-13-06T08:49:37Z',
    '1994-00-06T08:49:37Z',
    '2023-02-29T00:00:00Z',
    '1994-11-06T25:49:37Z',
    '1994-11-06T08:49:37+24:00',
    '19941106T084937Z',
    '-1994-11-06T08:49:37Z',
    '1994-11-06T08:49:37Zx',
  ])('%j is none', (text) => {
    expect(parseIsoDate(text)).toBeUndefined();
  });
});

it('every date reads as it was written', () => {
  const dates = fc.date({
    min: new Date('0000-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(dates, (date) => {
      const ms = date.getTime();
      const second = Math.floor(ms / 1000) * 1000;
      expect(parseIsoDate(date.toISOString())).toBe(ms);
      expect(parseHttpDate(formatHttpDate(ms))).toBe(second);
    }),
  );
});

it('a timestamp is either', () => {
  expect(parseTimestamp('1994-11-06T08:49:37Z')).toBe(moment);
  expect(parseTimestamp('Sun, 06 Nov 1994 08:49:37 GMT')).toBe(moment);
  expect(parseTimestamp('yesterday')).toBeUndefined();
});
