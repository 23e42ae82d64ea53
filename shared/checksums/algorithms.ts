/** The checksum algorithms of S3, by the name S3 gives them (x-amz-checksum-<lower case name>). */
export const checksumAlgorithms = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const;

export type ChecksumAlgorithm = (typeof checksumAlgorithms)[number];

/** FULL_OBJECT: of all bytes. COMPOSITE: of the parts' checksums, one after another. */
export type ChecksumType = 'FULL_OBJECT' | 'COMPOSITE';

/** A checksum of an object or a part. */
export interface Checksum {
  readonly algorithm: ChecksumAlgorithm;
  /** Big-endian bytes; base64 of them goes over the wire. */
  readonly value: Uint8Array;
  readonly type: ChecksumType;
}
