import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHttpDate } from '../../../shared/http/fields/dates.ts';
import { parseBasicTime, printBasicTime, printTime } from '../../../shared/signing/timestamp.ts';

const time = Date.UTC(2013, 4, 24, 1, 2, 3);

describe('timestamps', () => {
  it('read and print the basic form of ISO 8601', () => {
    expect(parseBasicTime('20130524T010203Z')).toBe(time);
    expect(printBasicTime(time)).toBe('20130524T010203Z');
    expect(printTime(time)).toBe('2013-05-24T01:02:03Z');
    expect(parseBasicTime('20240229T235959Z')).toBe(Date.UTC(2024, 1, 29, 23, 59, 59));
  });

  it.each([
    '',
    '2013-05-24T01:02:03Z',
    '20130524',
    '20130524T010203',
    '20130230T000000Z',
    '20131324T000000Z',
    '20130524T250000Z',
    '20130524T000060Z',
    '20130524T240000Z',
    '20130524T006000Z',
    '20130431T000000Z',
    '20130024T000000Z',
    '20130500T000000Z',
    '20130229T000000Z',
    '00130524T000000Z',
    ' 20130524T010203Z',
    '20130524T010203Z ',
    '20130524t010203z',
  ])('are not %j', (text) => {
    expect(parseBasicTime(text)).toBeUndefined();
  });

  it('read as they were printed, by the second', () => {
    const dates = fc.date({
      min: new Date('0100-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(dates, (date) => {
        const second = Math.floor(date.getTime() / 1000) * 1000;
        expect(parseBasicTime(printBasicTime(date.getTime()))).toBe(second);
      }),
    );
  });

  it.each(['Fri, 24 May 2013 01:02:03 GMT', 'Fri, 24 May 2013 01:02:03 +0000', '24 May 2013 01:02:03 GMT'])(
    'read %j',
    (text) => {
      expect(parseHttpDate(text)).toBe(time);
    },
  );

  it.each([
    '',
    'yesterday',
    '2013-05-24',
    'Fri, 24 May 2013 01:02:03',
    'Fri, 99 May 2013 01:02:03 GMT',
    // A day that there is not is no other day.
    'Fri, 31 Feb 2013 01:02:03 GMT',
    'Fri, 24 Moy 2013 01:02:03 GMT',
    '1369357323',
  ])('find no date in %j', (text) => {
    expect(parseHttpDate(text)).toBeUndefined();
  });
});
