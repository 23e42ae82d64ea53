/** The checksum algorithms, by the names that S3 gives them (x-amz-checksum-<lower-case name>). */
export const checksumAlgorithms = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const;

export type ChecksumAlgorithm = (typeof checksumAlgorithms)[number];

/** FULL_OBJECT: computed over all bytes. COMPOSITE: computed over the checksums of the parts, in order. */
export type ChecksumType = 'FULL_OBJECT' | 'COMPOSITE';

/** The checksum of an object or a part. */
export interface Checksum {
  readonly algorithm: ChecksumAlgorithm;
  /** Big-endian bytes, sent as base64. */
  readonly value: Uint8Array;
  readonly type: ChecksumType;
}
