import fc from 'fast-check';
import type { Attribute, Attributes } from '../../shared/ports/key-value-table.ts';

/** The order of all keys: UTF-8 bytes. */
export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Characters where encodings and orders go wrong: controls, separators, both sides of the surrogates, other planes. */
const characters = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c', '/', '0') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...[
        '\u0000',
        '\u0001',
        '\n',
        ' ',
        '\u007F',
        '\u0080',
        'é',
        '\u07FF',
        '\u0800',
        '\uD7FF',
        '\uE000',
        '～',
        '\uFFFD',
        '\uFFFF',
      ],
      ...['\u{10000}', '😀', '\u{10FFFF}'],
    ),
  },
);

/** Short sort keys that share many prefixes, and now and then one of the full 1,024 bytes. */
export const sortKeys: fc.Arbitrary<string> = fc.oneof(
  { weight: 20, arbitrary: fc.string({ unit: characters, minLength: 1, maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom('a', '\u0000', '~').map((character) => character.repeat(1024)) },
);

const text = fc.oneof(fc.string({ unit: characters }), fc.string({ unit: 'grapheme' }));

/** Numbers that every engine can hold: DynamoDB keeps 1e-130 to 1e126. */
export const numbers = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer(),
  fc.double({ min: -1e125, max: 1e125, noNaN: true }).map((value) => (Math.abs(value) < 1e-125 ? 0 : value)),
);

const scalars: fc.Arbitrary<Attribute> = fc.oneof(
  text,
  numbers,
  fc.boolean(),
  fc.uint8Array({ maxLength: 40 }),
  fc
    .uniqueArray(
      text.filter((member) => member !== ''),
      { minLength: 1, maxLength: 5 },
    )
    .map((members) => new Set(members)),
);

const names = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 5 }),
  fc.constantFrom('__proto__', 'é', 'a.b'),
);

/** A map from names to values. */
export function attributesOf(value: fc.Arbitrary<Attribute>): fc.Arbitrary<Attributes> {
  return fc.dictionary(names, value, { maxKeys: 6, noNullPrototype: true });
}

/** Any attribute, nested up to three levels. */
export const anAttribute: fc.Arbitrary<Attribute> = fc.letrec<{ attribute: Attribute }>((tie) => ({
  attribute: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'attribute' },
    scalars,
    fc.array(tie('attribute'), { maxLength: 4, depthIdentifier: 'attribute' }),
    attributesOf(tie('attribute')),
  ),
})).attribute;
