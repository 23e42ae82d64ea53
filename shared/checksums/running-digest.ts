import { createHash } from 'node:crypto';
import type { ChecksumAlgorithm } from './algorithms.ts';
import { Crc32 } from './crc32.ts';
import { crc32c, crc64Nvme } from './wasm-crc.ts';

/** A digest that is fed while bytes stream by. */
export interface RunningDigest {
  update(bytes: Uint8Array): void;
  /** The digest of all bytes so far, big-endian. Ends the digest: call it once. */
  digest(): Uint8Array;
}

/** MD5 is what ETag and Content-MD5 speak of; it is not a checksum algorithm of S3. */
export type DigestAlgorithm = ChecksumAlgorithm | 'MD5';

const starts: Readonly<Record<DigestAlgorithm, () => RunningDigest>> = {
  CRC32: () => new Crc32(),
  CRC32C: () => crc32c.start(),
  CRC64NVME: () => crc64Nvme.start(),
  SHA1: () => createHash('sha1'),
  SHA256: () => createHash('sha256'),
  MD5: () => createHash('md5'),
};

/** CRC32C and CRC64NVME are WebAssembly. To compile it takes longer than a function should to start, so it is done once one is wanted. */
export async function loadDigest(algorithm: DigestAlgorithm): Promise<void> {
  if (algorithm === 'CRC32C') await crc32c.load();
  if (algorithm === 'CRC64NVME') await crc64Nvme.load();
}

/** Begins a digest of no bytes, which must be loaded: see {@link loadDigest}. */
export function startDigest(algorithm: DigestAlgorithm): RunningDigest {
  return starts[algorithm]();
}
