import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  marshal,
  marshalItem,
  unmarshalAttributes,
  unmarshalItem,
} from '../../../../../shared/adapters/cloud/dynamodb/attribute-values.ts';
import type { Attribute, Attributes } from '../../../../../shared/ports/key-value-table.ts';

const key = { pk: 'p', sk: 's' };

const { attribute } = fc.letrec<{ attribute: Attribute }>((tie) => ({
  attribute: fc.oneof(
    fc.string(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, min: -1e125, max: 1e125 }).map((value) => (Math.abs(value) < 1e-130 ? 0 : value)),
    fc.boolean(),
    fc.uint8Array(),
    fc.uniqueArray(fc.string(), { minLength: 1 }).map((members) => new Set(members)),
    fc.array(tie('attribute'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', '___proto__', 'pk', '_sk')), tie('attribute'), {
      maxKeys: 3,
    }),
  ),
}));

describe('attribute values', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(attribute, (value) => {
        expect(unmarshalItem(marshalItem(key, { value }))).toEqual({ key, attributes: { value } });
      }),
    );
  });

  it.each<[Attribute, object]>([
    ['', { S: '' }],
    [-1.5, { N: '-1.5' }],
    [Number.MAX_SAFE_INTEGER, { N: '9007199254740991' }],
    [false, { BOOL: false }],
    [new Uint8Array([1]), { B: new Uint8Array([1]) }],
    [new Set(['b', 'a']), { SS: ['b', 'a'] }],
    [['x', []], { L: [{ S: 'x' }, { L: [] }] }],
    [{ a: { b: 1 } }, { M: { a: { M: { b: { N: '1' } } } } }],
  ])('%j', (value, expected) => {
    expect(marshal(value)).toEqual(expected);
  });

  it.each([NaN, Infinity, -Infinity, 1e126, 5e-324])('refuses %d', (value) => {
    expect(() => marshal(value)).toThrow(RangeError);
  });

  it('keeps attributes apart from the key, and hides from the SDK the name with which it fails', () => {
    const hostile = JSON.parse(
      '{"__proto__":"x","___proto__":"y","proto__":"z","pk":1,"_pk":2,"sk":3,"psk":4}',
    ) as Attributes;
    const stored = marshalItem(key, hostile);
    expect(Object.keys(stored)).toEqual([
      '___proto__',
      '____proto__',
      'proto__',
      '_pk',
      '__pk',
      '_sk',
      'psk',
      'pk',
      'sk',
    ]);
    expect(unmarshalItem(stored).key).toEqual(key);
    expect(Object.entries(unmarshalAttributes(stored))).toEqual(Object.entries(hostile));
  });

  it('refuses a stored value that was never written by it', () => {
    expect(() => unmarshalAttributes({ a: { NULL: true } as object })).toThrow('NULL');
  });
});
