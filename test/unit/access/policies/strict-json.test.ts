import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseStrictJson, type Json } from '../../../../shared/access/policies/strict-json.ts';
import { runs } from '../../../support/runs/runs.ts';

const parse = (text: string | Uint8Array, depth = 100): Json =>
  parseStrictJson(typeof text === 'string' ? Buffer.from(text) : text, depth);

/** Converts a value to the result of JSON.parse. */
function plain(json: Json): unknown {
  if (json instanceof Map) {
    const object: Record<string, unknown> = {};
    for (const [name, value] of json as ReadonlyMap<string, Json>) {
      Object.defineProperty(object, name, {
        value: plain(value),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return object;
  }
  return Array.isArray(json) ? (json as readonly Json[]).map(plain) : json;
}

it('reads whatever JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      expect(plain(parse(text))).toEqual(JSON.parse(text));
    }),
  );
});

it('refuses what JSON.parse refuses', () => {
  const characters = fc.constantFrom(...'{}[],:"\\ \n01-.eEtrufalsn\u0001ü');
  fc.assert(
    fc.property(fc.array(characters, { maxLength: 12 }), (all) => {
      const text = all.join('');
      let expected: unknown;
      try {
        expected = JSON.parse(text);
      } catch {
        expect(() => parse(text)).toThrow(SyntaxError);
        return;
      }
      let found: unknown;
      try {
        found = plain(parse(text));
      } catch (error) {
        expect((error as Error).message).toContain('appears twice');
        return;
      }
      expect(found).toEqual(expected);
    }),
    { numRuns: runs(2_000) },
  );
});

it.each([
  ['a name that stands twice', '{"a":1,"b":2,"a":3}', '"a" appears twice in one object'],
  ['the same name, spelt in two ways', '{"a":1,"\\u0061":2}', '"a" appears twice in one object'],
  ['what stands behind the end', '{} {}', 'it is not valid JSON at character 4'],
  ['nothing', '', 'it is not valid JSON at character 1'],
  ['a byte order mark', '\ufeff{}', 'it is not valid JSON at character 1'],
  ['nesting', '[[[[[]]]]]', 'it is nested too deeply'],
])('refuses %s', (_, text, message) => {
  expect(() => parse(text, 3)).toThrow(new SyntaxError(message));
});

it('refuses bytes that are not UTF-8', () => {
  expect(() => parse(Uint8Array.of(0x22, 0xc3, 0x28, 0x22))).toThrow('it is not UTF-8');
});

it('refuses a hundred thousand brackets as calmly as four', () => {
  expect(() => parse('['.repeat(100_000), 8)).toThrow('it is nested too deeply');
  expect(() => parse('{"a":'.repeat(100_000), 8)).toThrow('it is nested too deeply');
});

it('gives no name a meaning', () => {
  const json = parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
  expect([...(json as ReadonlyMap<string, Json>).keys()]).toEqual(['__proto__', 'constructor']);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});
