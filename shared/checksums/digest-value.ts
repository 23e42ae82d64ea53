import type { DigestAlgorithm } from './running-digest.ts';

/** How many bytes a value of each algorithm has. */
const lengths: Readonly<Record<DigestAlgorithm, number>> = {
  CRC32: 4,
  CRC32C: 4,
  CRC64NVME: 8,
  SHA1: 20,
  SHA256: 32,
  MD5: 16,
};

/** The bytes of a base64 value (RFC 4648 §4, padded, nothing around it), or undefined if it is not one of the right length. */
export function parseDigest(algorithm: DigestAlgorithm, base64: string): Uint8Array | undefined {
  const value = Buffer.from(base64, 'base64');
  // Buffer skips what is not base64, so only the way back shows whether all of it was.
  return value.length === lengths[algorithm] && value.toString('base64') === base64 ? value : undefined;
}

/** The form in which headers, trailers and documents carry a value. */
export function printDigest(value: Uint8Array): string {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
}
