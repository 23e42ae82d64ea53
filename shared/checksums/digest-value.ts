import type { DigestAlgorithm } from './running-digest.ts';

/** The length of each algorithm's digest in bytes. */
const lengths: Readonly<Record<DigestAlgorithm, number>> = {
  CRC32: 4,
  CRC32C: 4,
  CRC64NVME: 8,
  SHA1: 20,
  SHA256: 32,
  MD5: 16,
};

/**
 * Decodes a base64 digest (RFC 4648 §4, padded, without white space). Returns undefined if it is invalid or has the
 * wrong length.
 */
export function parseDigest(algorithm: DigestAlgorithm, base64: string): Uint8Array | undefined {
  const value = Buffer.from(base64, 'base64');
  // Buffer ignores characters that are not base64, so only encoding it again shows whether all of it was valid.
  return value.length === lengths[algorithm] && value.toString('base64') === base64 ? value : undefined;
}

/** Encodes a digest as base64, as in headers, trailers and documents. */
export function printDigest(value: Uint8Array): string {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
}
