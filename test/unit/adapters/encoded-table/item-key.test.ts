import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeSortKey,
  encodeItemKey,
  maxItemKeySize,
  rangeOf,
} from '../../../../shared/adapters/encoded-table/item-key.ts';
import type { ItemKey } from '../../../../shared/ports/key-value-table.ts';
import { compareBytes, sortKeys } from '../../../contract/table-arbitraries.ts';
import { runs } from '../../../support/runs/runs.ts';

const itemKeys = fc.record({ pk: sortKeys.filter((pk) => pk.length < 900), sk: sortKeys });

const compareKeys = (a: ItemKey, b: ItemKey): number => compareBytes(a.pk, b.pk) || compareBytes(a.sk, b.sk);

describe('encodeItemKey', () => {
  it('orders as the bytes of the partition key and then of the sort key', () => {
    fc.assert(
      fc.property(itemKeys, itemKeys, (a, b) => {
        expect(Math.sign(Buffer.compare(encodeItemKey(a), encodeItemKey(b)))).toBe(Math.sign(compareKeys(a, b)));
      }),
      { numRuns: runs(2000) },
    );
  });

  it('can be read back', () => {
    fc.assert(
      fc.property(itemKeys, (key) => {
        expect(decodeSortKey(encodeItemKey(key), key.pk)).toBe(key.sk);
      }),
    );
  });

  it('grows by one byte only, so that the noncurrent versions of the longest key fit, whatever its characters', () => {
    for (const character of ['a', '\u0000', '\u0001', '😀']) {
      const key = character.repeat(1024 / Buffer.byteLength(character));
      const encoded = encodeItemKey({ pk: `old/${'b'.repeat(22)}/${key}`, sk: 'i'.repeat(32) });
      expect(encoded).toHaveLength(4 + 22 + 1 + 1024 + 1 + 32);
    }
  });

  it('refuses what the engine cannot take', () => {
    expect(encodeItemKey({ pk: 'p'.repeat(952), sk: 's'.repeat(1024) })).toHaveLength(maxItemKeySize);
    expect(() => encodeItemKey({ pk: 'p'.repeat(953), sk: 's'.repeat(1024) })).toThrow(
      /1977 bytes together; at most 1976/,
    );
    expect(() => encodeItemKey({ pk: '', sk: 's' })).toThrow(/empty/);
    expect(() => encodeItemKey({ pk: 'p', sk: '' })).toThrow(/empty/);
  });
});

describe('rangeOf', () => {
  const bounds = fc.record(
    { from: sortKeys, after: sortKeys, prefix: fc.oneof(sortKeys, fc.constant('')), reverse: fc.boolean() },
    { requiredKeys: [] },
  );

  it('holds exactly the keys that the query asks for', () => {
    fc.assert(
      fc.property(itemKeys, bounds, fc.oneof(fc.constant(undefined), sortKeys), (key, wish, other) => {
        const pk = other ?? key.pk;
        const { from = '', after, prefix = '', reverse = false } = wish;
        const wanted =
          key.pk === pk &&
          compareBytes(key.sk, from) >= 0 &&
          key.sk.startsWith(prefix) &&
          (after === undefined || (reverse ? compareBytes(key.sk, after) < 0 : compareBytes(key.sk, after) > 0));
        const { start, end } = rangeOf(pk, wish);
        const encoded = encodeItemKey(key);
        expect(Buffer.compare(start, encoded) <= 0 && Buffer.compare(encoded, end) < 0).toBe(wanted);
      }),
      { numRuns: runs(3000) },
    );
  });

  it('gives bounds that the engine can take', () => {
    const { start, end } = rangeOf('p'.repeat(1100), { after: 's'.repeat(1024), prefix: 's'.repeat(1024) });
    expect(start).toHaveLength(1978);
    expect(end).toHaveLength(1978);
  });
});
