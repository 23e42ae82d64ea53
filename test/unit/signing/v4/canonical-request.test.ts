import { describe, expect, it } from 'vitest';
import { canonicalQuery, canonicalUri } from '../../../../shared/signing/v4/canonical-request.ts';

const hexadecimal = (byte: number): string => byte.toString(16).padStart(2, '0');
const bytes = Array.from({ length: 256 }, (_, byte) => byte);
/** UriEncode of the documentation, for one byte. */
const written = (byte: number): string => {
  const character = String.fromCharCode(byte);
  return /[A-Za-z0-9\-._~]/.test(character) ? character : `%${hexadecimal(byte).toUpperCase()}`;
};

describe('a canonical request', () => {
  it.each(['lower', 'upper'] as const)('writes every byte in one way, were it escaped in %s case', (letters) => {
    for (const byte of bytes) {
      const hex = letters === 'upper' ? hexadecimal(byte).toUpperCase() : hexadecimal(byte);
      const escape = `%${hex}`;
      expect(canonicalUri(`/a/${escape}b`)).toBe(`/a/${written(byte)}b`);
      const parameter = { name: '', value: '', rawName: `a${escape}`, rawValue: escape };
      expect(canonicalQuery([parameter], '%20')).toBe(`a${written(byte)}=${written(byte)}`);
    }
  });

  it('escapes what stands bare, but the slashes of a path', () => {
    for (const byte of bytes.slice(0x21, 0x7f)) {
      const character = String.fromCharCode(byte);
      if (character === '%' || character === '+') continue;
      expect(canonicalUri(`/a${character}`)).toBe(character === '/' ? '/a/' : `/a${written(byte)}`);
      const parameter = { name: '', value: '', rawName: 'a', rawValue: `${character}%2Fb` };
      expect(canonicalQuery([parameter], '%20')).toBe(`a=${written(byte)}%2Fb`);
    }
  });

  it('reads a plus of a query as it is told, and sorts names before values', () => {
    const parameters = [
      { name: '', value: '', rawName: 'b', rawValue: 'x+y' },
      { name: '', value: '', rawName: 'a-', rawValue: '2' },
      { name: '', value: '', rawName: 'a', rawValue: '%7e' },
      { name: '', value: '', rawName: 'a', rawValue: '' },
    ];
    expect(canonicalQuery(parameters, '%20')).toBe('a=&a=~&a-=2&b=x%20y');
    expect(canonicalQuery(parameters, '%2B')).toBe('a=&a=~&a-=2&b=x%2By');
    expect(canonicalQuery([], '%20')).toBe('');
  });
});
