import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDigest, printDigest } from '../../../shared/checksums/digest-value.ts';

const lengths = { CRC32: 4, CRC32C: 4, CRC64NVME: 8, SHA1: 20, SHA256: 32, MD5: 16 } as const;
const algorithms = Object.keys(lengths) as (keyof typeof lengths)[];

describe('digest values', () => {
  it.each(algorithms)('of %s survive printing and parsing', (algorithm) => {
    const length = lengths[algorithm];
    fc.assert(
      fc.property(fc.uint8Array({ minLength: length, maxLength: length }), (value) => {
        expect(new Uint8Array(parseDigest(algorithm, printDigest(value))!)).toEqual(value);
      }),
    );
  });

  it.each(algorithms)('of %s have one length', (algorithm) => {
    for (const other of [0, 3, 4, 8, 16, 20, 32, 33]) {
      expect(parseDigest(algorithm, Buffer.alloc(other).toString('base64')) !== undefined).toBe(
        other === lengths[algorithm],
      );
    }
  });

  it.each([
    '',
    'AAAAAA',
    'AAAAAA=',
    'AAAAAA= =',
    ' AAAAAA==',
    'AAAAAA==\n',
    'AAAAAB==',
    'A-_AAA==',
    'AAAAAA==,AAAAAA==',
    '*',
    '=====',
  ])('are not %j', (text) => {
    expect(parseDigest('CRC32', text)).toBeUndefined();
  });

  it('prints a view, not the memory around it', () => {
    expect(printDigest(new Uint8Array([9, 0, 0, 0, 0, 9]).subarray(1, 5))).toBe('AAAAAA==');
  });
});
