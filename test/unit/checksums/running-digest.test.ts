import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checksumAlgorithms } from '../../../shared/checksums/algorithms.ts';
import { loadDigest, startDigest, type DigestAlgorithm } from '../../../shared/checksums/running-digest.ts';

const algorithms: readonly DigestAlgorithm[] = [...checksumAlgorithms, 'MD5'];
for (const algorithm of algorithms) await loadDigest(algorithm);

function digestOf(algorithm: DigestAlgorithm, ...pieces: Uint8Array[]): string {
  const digest = startDigest(algorithm);
  for (const piece of pieces) digest.update(piece);
  return Buffer.from(digest.digest()).toString('hex');
}

/** A CRC bit by bit, as its definition has it. */
function crcByDefinition(width: number, reversedPolynomial: bigint, bytes: Uint8Array): string {
  const ones = (1n << BigInt(width)) - 1n;
  let crc = ones;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ reversedPolynomial : crc >> 1n;
  }
  return (crc ^ ones).toString(16).padStart(width / 4, '0');
}

const definitions: Record<DigestAlgorithm, (bytes: Uint8Array) => string> = {
  CRC32: (bytes) => crcByDefinition(32, 0xedb88320n, bytes),
  CRC32C: (bytes) => crcByDefinition(32, 0x82f63b78n, bytes),
  CRC64NVME: (bytes) => crcByDefinition(64, 0x9a6c9329ac4bc9b5n, bytes),
  SHA1: (bytes) => createHash('sha1').update(bytes).digest('hex'),
  SHA256: (bytes) => createHash('sha256').update(bytes).digest('hex'),
  MD5: (bytes) => createHash('md5').update(bytes).digest('hex'),
};

describe('startDigest', () => {
  it.each([
    ['CRC32', 'cbf43926'],
    ['CRC32C', 'e3069283'],
    ['CRC64NVME', 'ae8b14860a799888'],
    ['SHA1', 'f7c3bc1d808e04732adf679965ccc34ca7ae3441'],
    ['SHA256', '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225'],
    ['MD5', '25f9e794323b453885f5181f1b624d0b'],
  ] as const)('gives %s of 123456789', (algorithm, expected) => {
    expect(digestOf(algorithm, Buffer.from('123456789'))).toBe(expected);
  });

  it.each([
    ['CRC32', '00000000'],
    ['CRC32C', '00000000'],
    ['CRC64NVME', '0000000000000000'],
    ['SHA1', 'da39a3ee5e6b4b0d3255bfef95601890afd80709'],
    ['SHA256', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['MD5', 'd41d8cd98f00b204e9800998ecf8427e'],
  ] as const)('gives %s of nothing', (algorithm, expected) => {
    expect(digestOf(algorithm)).toBe(expected);
    expect(digestOf(algorithm, Buffer.alloc(0))).toBe(expected);
  });

  // RFC 3720 appendix B.4
  it.each([
    ['8a9136aa', Buffer.alloc(32)],
    ['62a8ab43', Buffer.alloc(32, 0xff)],
    ['46dd794e', Buffer.from(Array.from({ length: 32 }, (_, at) => at))],
    ['113fdb5c', Buffer.from(Array.from({ length: 32 }, (_, at) => 31 - at))],
  ])('gives the CRC32C %s of the iSCSI examples', (expected, bytes) => {
    expect(digestOf('CRC32C', bytes)).toBe(expected);
  });

  it.each(algorithms)(
    'computes %s as defined, however the bytes are cut and wherever they lie in memory',
    (algorithm) => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(300)), fc.nat(9), (bytes, cuts, offset) => {
          const memory = new Uint8Array(bytes.length + offset);
          memory.set(bytes, offset);
          const view = memory.subarray(offset);
          const bounds = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
          const pieces = bounds.slice(1).map((end, at) => view.subarray(bounds[at], end));
          expect(digestOf(algorithm, ...pieces)).toBe(definitions[algorithm](bytes));
        }),
      );
    },
  );

  it.each(algorithms)('computes %s of many bodies at once, some of which never end', (algorithm) => {
    const body = fc.record({
      pieces: fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 5 }),
      ends: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(body, { minLength: 2, maxLength: 6 }), fc.infiniteStream(fc.nat()), (bodies, order) => {
        const open = bodies.map(({ pieces, ends }) => ({
          digest: startDigest(algorithm),
          pieces: [...pieces],
          ends,
          bytes: Buffer.concat(pieces),
        }));
        while (open.length > 0) {
          const at = order.next().value % open.length;
          const { digest, pieces, ends, bytes } = open[at]!;
          const piece = pieces.shift();
          if (piece) digest.update(piece);
          else {
            open.splice(at, 1);
            if (ends) expect(Buffer.from(digest.digest()).toString('hex')).toBe(definitions[algorithm](bytes));
          }
        }
      }),
    );
  });

  it.each(algorithms)('computes %s of pieces that are larger than what it takes at a time', (algorithm) => {
    const bytes = Buffer.from(Array.from({ length: 50_000 }, (_, at) => (at * 31) % 251));
    expect(digestOf(algorithm, bytes)).toBe(definitions[algorithm](bytes));
  });
});
