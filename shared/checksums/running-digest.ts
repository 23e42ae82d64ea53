import { createHash } from 'node:crypto';
import type { ChecksumAlgorithm } from './algorithms.ts';
import { Crc32 } from './crc32.ts';
import { startCrc32c, startCrc64Nvme } from './wasm-crc.ts';

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
  CRC32C: startCrc32c,
  CRC64NVME: startCrc64Nvme,
  SHA1: () => createHash('sha1'),
  SHA256: () => createHash('sha256'),
  MD5: () => createHash('md5'),
};

/** Begins a digest of no bytes. */
export function startDigest(algorithm: DigestAlgorithm): RunningDigest {
  return starts[algorithm]();
}
