import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { combineCrcs } from '../../../shared/checksums/crc-combine.ts';
import { loadDigest, startDigest } from '../../../shared/checksums/running-digest.ts';

const crcs = ['CRC32', 'CRC32C', 'CRC64NVME'] as const;
for (const algorithm of crcs) await loadDigest(algorithm);

function crcOf(algorithm: (typeof crcs)[number], ...pieces: Uint8Array[]): Uint8Array {
  const digest = startDigest(algorithm);
  for (const piece of pieces) digest.update(piece);
  return digest.digest();
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe.each(crcs)('combineCrcs for %s', (algorithm) => {
  it('gives the CRC of the whole from those of two parts', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.uint8Array({ maxLength: 600 }), (first, second) => {
        const combined = combineCrcs(algorithm, crcOf(algorithm, first), crcOf(algorithm, second), second.length);
        expect(hex(combined)).toBe(hex(crcOf(algorithm, first, second)));
      }),
    );
  });

  it('gives the CRC of many parts, of one length and of another', () => {
    const parts = [5000, 5000, 5000, 17, 0, 5000].map((length, part) => Buffer.alloc(length, part + 1));
    const combined = parts.reduce<Uint8Array>(
      (whole, part) => combineCrcs(algorithm, whole, crcOf(algorithm, part), part.length),
      crcOf(algorithm),
    );
    expect(hex(combined)).toBe(hex(crcOf(algorithm, ...parts)));
  });

  it('is associative for lengths beyond 32 bits', () => {
    const a = crcOf(algorithm, Buffer.from('a'));
    const b = crcOf(algorithm, Buffer.from('b'));
    const c = crcOf(algorithm, Buffer.from('c'));
    const lengthB = 5 * 2 ** 40 - 1;
    const lengthC = 2 ** 33 + 12345;
    const left = combineCrcs(algorithm, combineCrcs(algorithm, a, b, lengthB), c, lengthC);
    const right = combineCrcs(algorithm, a, combineCrcs(algorithm, b, c, lengthC), lengthB + lengthC);
    expect(hex(left)).toBe(hex(right));
  });

  it('keeps leading zeros', () => {
    const nothing = crcOf(algorithm);
    expect(combineCrcs(algorithm, nothing, nothing, 0)).toHaveLength(nothing.length);
  });
});
