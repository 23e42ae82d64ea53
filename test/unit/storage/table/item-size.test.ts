import { describe, expect, it } from 'vitest';
import { itemBytes } from '../../../../shared/storage/table/item-size.ts';
import type { Attribute } from '../../../../shared/ports/key-value-table.ts';

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html */
describe('the size of an item', () => {
  it.each<[string, Attribute, number]>([
    ['an empty string', '', 0],
    ['a string', 'abc', 3],
    ['UTF-8 of two bytes', 'é', 2],
    ['UTF-8 of four bytes', '😀', 4],
    ['true', true, 1],
    ['false', false, 1],
    ['bytes', new Uint8Array(5), 5],
    ['a buffer', Buffer.from('abc'), 3],
    ['0', 0, 1],
    ['1', 1, 2],
    ['99', 99, 2],
    ['100', 100, 2],
    ['101', 101, 3],
    ['a million', 1_000_000, 2],
    ['a time', 1_767_323_045_123, 8],
    ['a negative number', -5, 3],
    ['a fraction', 0.25, 2],
    ['a set', new Set(['ab', 'c']), 3],
    ['an empty list', [], 3],
    ['a list', ['ab', 1, true], 3 + (1 + 2) + (1 + 2) + (1 + 1)],
    ['an empty map', {}, 3],
    ['a map', { ab: 'c', d: 'é' }, 3 + (1 + 2 + 1) + (1 + 1 + 2)],
    ['a list of lists', [['a'], []], 3 + (1 + 3 + 1 + 1) + (1 + 3)],
  ])('%s', (_, value, bytes) => {
    expect(itemBytes({ x: value })).toBe(1 + bytes);
  });

  it('counts every attribute with its name in UTF-8', () => {
    expect(itemBytes({})).toBe(0);
    expect(itemBytes({ a: 'b', name: 'cd', é: '' })).toBe(1 + 1 + 4 + 2 + 2);
  });
});
