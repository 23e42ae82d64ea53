import type { Checksum } from '../../checksums/algorithms.ts';

/** What was measured while a body streamed by. Available only once the body was read to its end. */
export interface PayloadDigests {
  /** Decoded bytes. */
  readonly size: number;
  /** 16 bytes; what an ETag shows in hex. Undefined unless the operation streams. */
  readonly md5: Uint8Array | undefined;
  /** The checksum the client sent (header or trailer), verified; else the server's own CRC64NVME. */
  readonly checksum: Checksum | undefined;
}

/**
 * A verified request body. Authentication has removed the aws-chunked framing; while the bytes are read it
 * verifies chunk and trailer signatures, x-amz-content-sha256, Content-MD5, x-amz-checksum-*, and the length. The iterator
 * throws the exact S3Error instead of ending when one of them does not hold: so whoever reads to the end has a
 * verified body, and whoever commits before the end has a bug.
 */
export interface Payload {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Decoded length as announced (Content-Length, or x-amz-decoded-content-length), if it was. */
  readonly length: number | undefined;
  /** @throws Error if the body was not read to its end */
  digests(): PayloadDigests;
}
