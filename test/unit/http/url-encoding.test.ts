import fc from 'fast-check';
import { expect, it } from 'vitest';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { encodeName, parseEncodingType } from '../../../shared/http/url-encoding.ts';

it.each([
  ['AZaz09-_.~*/', 'AZaz09-_.~*/'],
  ['a b+c', 'a%20b%2Bc'],
  ["!'()", '%21%27%28%29'],
  ['%2F', '%252F'],
  ['\u0001\r\n&<>"', '%01%0D%0A%26%3C%3E%22'],
  ['é😀', '%C3%A9%F0%9F%98%80'],
])('%j → %s', (name, encoded) => {
  expect(encodeName(name)).toBe(encoded);
});

it('is undone by decoding, also where a plus becomes a space', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      const encoded = encodeName(name);
      expect(encoded).toMatch(/^(?:[A-Za-z0-9_.~*/-]|%[0-9A-F]{2})*$/);
      expect(decodeURIComponent(encoded.replaceAll('+', ' '))).toBe(name);
    }),
  );
});

it('encoding-type is url or nothing', () => {
  expect(parseEncodingType(undefined)).toBeUndefined();
  expect(parseEncodingType('')).toBeUndefined();
  expect(parseEncodingType('url')?.encode(' ')).toBe('%20');
  for (const value of ['URL', 'base64', 'url,url']) expect(() => parseEncodingType(value)).toThrow(S3Error);
});
