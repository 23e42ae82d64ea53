import { describe, expect, it } from 'vitest';
import { EncodedItemView } from '../../../../../shared/adapters/embedded/table/encoded-item-view.ts';
import { decodeItem, encodeItem } from '../../../../../shared/adapters/encoded-table/item-encoding.ts';
import { ItemDamaged } from '../../../../../shared/ports/key-value-table.ts';

/* The contract of tables covers views of undamaged items: test/contract/key-value-table.ts. */

const item = {
  ...{ m: 1, text: 'x'.repeat(200), short: 'a', map: { n: 1, d: 1.5 }, set: new Set(['a', 'bc']) },
  ...{ list: [true, -3, [{}]], b: Buffer.of(7), d: 0.5, s: 300 },
};
const bytes = encodeItem(item);

/** Returns the number `s` of the first `size` of these bytes, after which another item may follow in the buffer. */
function read(encoded: Uint8Array, size = encoded.length): number | undefined {
  const view = new EncodedItemView('pk', ['m', 's', 'set']);
  const buffer = Buffer.concat([encoded, bytes]);
  const key = Buffer.from('#ql\0key#');
  view.setKey(key, 1, key.length - 1);
  view.setValue(buffer, size);
  return view.number(1);
}

describe('an item read in place', () => {
  it('is read wherever its attributes are', () => {
    expect(read(bytes)).toBe(300);
    expect(read(encodeItem({}))).toBeUndefined();
  });

  it('is damaged wherever it is cut, and whatever follows it', () => {
    for (let size = 0; size < bytes.length; size += 1) {
      expect(() => read(bytes, size)).toThrow(ItemDamaged);
      expect(() => read(bytes.subarray(0, size))).toThrow(ItemDamaged);
    }
    expect(() => read(Buffer.concat([bytes, Buffer.of(0)]))).toThrow(ItemDamaged);
    expect(() => read(Buffer.alloc(9))).toThrow(ItemDamaged);
    expect(() => read(Buffer.alloc(9, 0xff))).toThrow(ItemDamaged);
    expect(() => read(bytes, 0)).toThrow('the item pk key of the table is damaged');
  });

  it('is damaged if decoding all of it finds damage, whichever byte is another', () => {
    for (let at = 0; at < bytes.length; at += 1) {
      for (const value of [0, 1, 7, 8, 9, 127, 128, 254, 255]) {
        const other = Buffer.from(bytes);
        other[at] = value;
        let decoded: unknown;
        try {
          decoded = decodeItem(other)['s'];
        } catch {
          expect(() => read(other), `byte ${at} is ${value}`).toThrow(ItemDamaged);
          continue;
        }
        if (typeof decoded === 'number' || decoded === undefined) expect(read(other)).toEqual(decoded);
        else expect(() => read(other)).toThrow(ItemDamaged);
      }
    }
  });
});
