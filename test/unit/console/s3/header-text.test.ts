import { describe, expect, it } from 'vitest';
import { decodeMetadata, encodeMetadata, fromHeader, toHeader } from '../../../../console/s3/header-text.ts';

describe('text in headers', () => {
  it('is sent as its UTF-8, and read as that or as Latin-1', () => {
    expect(toHeader('ü ✓')).toBe('\xc3\xbc \xe2\x9c\x93');
    for (const text of ['plain', 'ü ✓', 'a👩‍🚀b']) expect(fromHeader(toHeader(text))).toBe(text);
    expect(fromHeader('\xfc')).toBe('ü');
  });
});

describe('metadata', () => {
  it('is encoded as RFC 2047 says, in words of at most 75 characters, and decoded', () => {
    expect(encodeMetadata('plain text')).toBe('plain text');
    expect(encodeMetadata('ü')).toBe('=?UTF-8?B?w7w=?=');
    for (const text of ['ü', '✓ done', 'Ünïcode '.repeat(30), '👩‍🚀'.repeat(20), '=?UTF-8?B?w7w=?=', '']) {
      const encoded = encodeMetadata(text);
      expect(encoded).toMatch(/^[\x20-\x7e]*$/);
      for (const word of encoded.split(' ')) expect(word.length).toBeLessThanOrEqual(75);
      expect(decodeMetadata(encoded)).toBe(text);
    }
  });

  it('of others is read: quoted words, other character sets, UTF-8 without an encoding, and what only looks like a word', () => {
    expect(decodeMetadata('=?iso-8859-1?Q?caf=E9_au_lait?= now')).toBe('café au lait now');
    expect(decodeMetadata('=?UTF-8?B?w7w=?= =?UTF-8?B?w7w=?=')).toBe('üü');
    expect(decodeMetadata('\xc3\xbc')).toBe('ü');
    for (const text of ['=?klingon?B?w7w=?=', '=?UTF-8?B?***?=', '=?UTF-8?B?/w==?=', 'a =? b']) {
      expect(decodeMetadata(text)).toBe(text);
    }
  });
});
