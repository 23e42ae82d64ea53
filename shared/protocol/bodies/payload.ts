import type { Checksum } from '../../checksums/algorithms.ts';

/** The digests of a body, available once it was read to its end. */
export interface PayloadDigests {
  /** The number of decoded bytes. */
  readonly size: number;
  /** 16 bytes, shown in hex by an ETag. Undefined unless the operation streams. */
  readonly md5: Uint8Array | undefined;
  /** The verified checksum that the client sent (header or trailer), otherwise the server's CRC64NVME. */
  readonly checksum: Checksum | undefined;
}

/**
 * A verified request body. Authentication has removed the aws-chunked framing. While the bytes are read, it verifies
 * chunk and trailer signatures, x-amz-content-sha256, Content-MD5, x-amz-checksum-*, and the length. If one of them is
 * wrong, the iterator throws the S3Error instead of ending. A body read to its end is therefore verified; nothing may
 * be committed before.
 */
export interface Payload {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The announced decoded length (Content-Length or x-amz-decoded-content-length), if any. */
  readonly length: number | undefined;
  /** Returns the digests. @throws Error if the body was not read to its end */
  digests(): PayloadDigests;
}
