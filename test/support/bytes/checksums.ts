import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/*
 * An independent implementation of the checksums of the S3 API, from their definitions (the CRCs bit by bit), to check the service against
 * code other than its own.
 */

export const checksumAlgorithms = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const;
export type TestedAlgorithm = (typeof checksumAlgorithms)[number];

/** As headers and documents show it: base64, the most significant byte first. */
export function checksumOf(algorithm: TestedAlgorithm, content: string | Uint8Array): string {
  const bytes = Buffer.from(content);
  switch (algorithm) {
    case 'CRC32':
      return big(BigInt(crc32(bytes)), 4);
    case 'CRC32C':
      return big(reflectedCrc(bytes, 32n, 0x82f63b78n), 4);
    case 'CRC64NVME':
      return big(reflectedCrc(bytes, 64n, 0x9a6c9329ac4bc9b5n), 8);
    case 'SHA1':
    case 'SHA256':
      return createHash(algorithm.toLowerCase()).update(bytes).digest('base64');
  }
}

function reflectedCrc(bytes: Uint8Array, bits: bigint, polynomial: bigint): bigint {
  const ones = (1n << bits) - 1n;
  let crc = ones;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ polynomial : crc >> 1n;
  }
  return crc ^ ones;
}

function big(value: bigint, length: number): string {
  return Buffer.from(value.toString(16).padStart(2 * length, '0'), 'hex').toString('base64');
}
