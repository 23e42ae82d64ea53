import { crc32 } from 'node:zlib';
import { createHash } from 'node:crypto';
import type { ChecksumAlgorithm } from './algorithms.ts';
import { crc32c, crc64Nvme } from './wasm-crc.ts';

/** A digest computed while bytes stream by. */
export interface RunningDigest {
  update(bytes: Uint8Array): void;
  /** Returns the digest of all bytes, big-endian. May be called once only. */
  digest(): Uint8Array;
}

/** MD5 is used by ETag and Content-MD5; S3 does not count it among the checksum algorithms. */
export type DigestAlgorithm = ChecksumAlgorithm | 'MD5';

/** The CRC-32 of ISO 3309 and zlib, polynomial 0x04C11DB7. */
class Crc32 {
  #crc = 0;

  update(bytes: Uint8Array): void {
    this.#crc = crc32(bytes, this.#crc);
  }

  digest(): Uint8Array {
    const value = Buffer.alloc(4);
    value.writeUInt32BE(this.#crc);
    return value;
  }
}

const starts: Readonly<Record<DigestAlgorithm, () => RunningDigest>> = {
  CRC32: () => new Crc32(),
  CRC32C: () => crc32c.start(),
  CRC64NVME: () => crc64Nvme.start(),
  SHA1: () => createHash('sha1'),
  SHA256: () => createHash('sha256'),
  MD5: () => createHash('md5'),
};

/** Compiles the WebAssembly of CRC32C or CRC64NVME. Done on first use, because it would slow down a cold start. */
export async function loadDigest(algorithm: DigestAlgorithm): Promise<void> {
  if (algorithm === 'CRC32C') await crc32c.load();
  if (algorithm === 'CRC64NVME') await crc64Nvme.load();
}

/** Starts a digest. The algorithm must be loaded first: see {@link loadDigest}. */
export function startDigest(algorithm: DigestAlgorithm): RunningDigest {
  return starts[algorithm]();
}
