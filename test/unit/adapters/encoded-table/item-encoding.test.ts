import fc from 'fast-check';
import { ItemDamaged } from '../../../../shared/ports/key-value-table.ts';
import { describe, expect, it } from 'vitest';
import { decodeItem, encodeItem } from '../../../../shared/adapters/encoded-table/item-encoding.ts';
import { anAttribute, attributesOf } from '../../../contract/table-arbitraries.ts';
import { runs } from '../../../support/runs/runs.ts';

describe('encodeItem', () => {
  it('is undone by decodeItem', () => {
    fc.assert(
      fc.property(attributesOf(anAttribute), (item) => {
        expect(decodeItem(encodeItem(item))).toEqual(item);
      }),
      { numRuns: runs(1000) },
    );
  });

  it('leaves out what is not wanted', () => {
    fc.assert(
      fc.property(attributesOf(anAttribute), fc.array(fc.nat(10)), (item, some) => {
        const wanted = new Set(some.map((at) => Object.keys(item)[at] ?? 'none'));
        const expected = Object.entries(item).filter(([name]) => wanted.has(name));
        expect(Object.entries(decodeItem(encodeItem(item), wanted))).toEqual(expected);
      }),
      { numRuns: runs(1000) },
    );
  });

  it('keeps numbers exactly', () => {
    const numbers = [
      0,
      127,
      128,
      2 ** 31,
      2 ** 32,
      2 ** 53 - 1,
      -1,
      -128,
      -(2 ** 53) + 1,
      0.1,
      -1e300,
      5e-324,
      2 ** 60,
    ];
    expect(decodeItem(encodeItem({ numbers }))).toEqual({ numbers });
  });

  // Literal bytes, because existing databases must remain readable.
  it('has the form it always had', () => {
    const item = {
      s: 'é',
      n: 300,
      m: -1,
      d: 0.5,
      t: true,
      f: false,
      b: new Uint8Array([7]),
      x: new Set(['a']),
      l: [1],
      o: {},
    };
    const text = (...parts: (string | number)[]): Buffer =>
      Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))));
    const expected = Buffer.concat([
      Buffer.of(10),
      text(1, 's', 128 + 2, 'é'),
      text(1, 'n', 2, 300 - 256 + 128, 2),
      text(1, 'm', 3, 0),
      text(1, 'd', 4, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0),
      text(1, 't', 1),
      text(1, 'f', 0),
      text(1, 'b', 6, 1, 7),
      text(1, 'x', 7, 1, 1, 'a'),
      text(1, 'l', 8, 1, 2, 1),
      text(1, 'o', 9, 0),
    ]);
    expect(encodeItem(item).toString('hex')).toBe(expected.toString('hex'));
    expect(encodeItem({ s: 'x'.repeat(200) })).toEqual(text(1, 1, 's', 5, 200, 1, 'x'.repeat(200)));
    expect(decodeItem(expected)).toEqual(item);
  });

  it('refuses what is no attribute, and then goes on as before', () => {
    for (const value of [undefined, null, () => 1, 1n, Symbol('x')]) {
      expect(() => encodeItem({ a: 1, value: value as never })).toThrow(TypeError);
    }
    expect(decodeItem(encodeItem({ a: 1 }))).toEqual({ a: 1 });
  });

  it('gives copies', () => {
    const encoded = encodeItem({ short: new Uint8Array(4).fill(1), long: new Uint8Array(400).fill(1) });
    const item = decodeItem(encoded);
    encoded.fill(0);
    expect(item).toEqual({ short: new Uint8Array(4).fill(1), long: new Uint8Array(400).fill(1) });
  });
});

describe('decodeItem', () => {
  it('says when an item is damaged', () => {
    expect(() => decodeItem(Buffer.of(1, 1, 0x61, 77))).toThrow(/damaged.*77/);
  });

  const item = {
    text: 'x'.repeat(200),
    short: 'a',
    map: { n: 1, d: 1.5 },
    set: new Set(['a']),
    list: [true, -3],
    b: Buffer.of(7),
  };

  it('says so wherever it is cut, and whatever follows it', () => {
    const bytes = encodeItem(item);
    for (let size = 0; size < bytes.length; size += 1) {
      expect(() => decodeItem(bytes.subarray(0, size))).toThrow(ItemDamaged);
      expect(() => decodeItem(bytes.subarray(0, size), new Set(['list']))).toThrow(ItemDamaged);
    }
    expect(() => decodeItem(Buffer.concat([bytes, Buffer.of(0)]))).toThrow(ItemDamaged);
  });

  it('comes to an end, with an item or this error, whichever byte is another', () => {
    const bytes = encodeItem(item);
    for (let at = 0; at < bytes.length; at += 1) {
      for (const value of [0, 1, 7, 8, 9, 127, 128, 254, 255]) {
        const other = Buffer.from(bytes);
        other[at] = value;
        try {
          decodeItem(other);
        } catch (error) {
          expect(error).toBeInstanceOf(ItemDamaged);
        }
      }
    }
  });
});
