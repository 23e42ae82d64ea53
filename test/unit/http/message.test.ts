import { describe, expect, it } from 'vitest';
import { Fields } from '../../../shared/http/message.ts';

describe('Fields', () => {
  const fields = Fields.fromRaw(['Host', 'a', 'X-Two', '1', 'empty', '', 'x-two', '2', 'X-TWO', '']);

  it('joins repeated fields, and keeps each of them', () => {
    expect([fields.get('host'), fields.get('x-two'), fields.get('empty')]).toEqual(['a', '1,2,', '']);
    expect([fields.all('host'), fields.all('x-two'), fields.all('empty')]).toEqual([['a'], ['1', '2', ''], ['']]);
  });

  it('tells which are repeated, and which are there', () => {
    const names = ['host', 'x-two', 'empty', 'absent'];
    expect(names.map((name) => fields.isRepeated(name))).toEqual([false, true, false, false]);
    expect(names.map((name) => fields.has(name))).toEqual([true, true, true, false]);
    expect([fields.get('absent'), fields.all('absent')]).toEqual([undefined, []]);
  });

  it('keeps the order, and has each name once', () => {
    expect([...fields.names()]).toEqual(['host', 'x-two', 'empty']);
    expect([...fields].map(([name]) => name)).toEqual(['host', 'x-two', 'empty', 'x-two', 'x-two']);
  });

  it('tells an empty field that is repeated from one that is not', () => {
    const empty = new Fields([
      ['a', ''],
      ['a', ''],
    ]);
    expect([empty.get('a'), empty.all('a'), empty.isRepeated('a')]).toEqual([',', ['', ''], true]);
  });
});
