import { crc32 } from 'node:zlib';
import { BlobDamaged, type BlobRef } from '../../../ports/blob-store.ts';

/**
 * The size of a segment in bytes. A read verifies whole segments, so this is the least that a range reads. A multiple
 * of the size of a page, and a divisor of the size of every chunk.
 */
export const segmentSize = 64 * 1024;

/** The format of stored checksums: version 1; the CRC-32 of each segment, little-endian; the CRC-32 of all before. */
const version = 1;
const sumBytes = 4;

/** Computes the checksums of a blob, segment by segment, from its bytes in order. */
export class ChecksumWriter {
  readonly #sums: number[] = [];
  #sum = 0;
  #filled = 0;

  update(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const part = bytes.subarray(at, at + segmentSize - this.#filled);
      this.#sum = crc32(part, this.#sum);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === segmentSize) this.#endSegment();
    }
  }

  /** Returns the checksums as they are stored. */
  end(): Buffer {
    if (this.#filled > 0) this.#endSegment();
    const stored = Buffer.alloc(storedSize(this.#sums.length));
    stored[0] = version;
    this.#sums.forEach((sum, segment) => stored.writeUInt32LE(sum, 1 + segment * sumBytes));
    const end = stored.length - sumBytes;
    stored.writeUInt32LE(crc32(stored.subarray(0, end)), end);
    return stored;
  }

  #endSegment(): void {
    this.#sums.push(this.#sum);
    this.#sum = 0;
    this.#filled = 0;
  }
}

/** The checksums of one blob. */
export class BlobChecksums {
  readonly #ref: BlobRef;
  readonly #stored: Buffer;

  /**
   * @param stored as {@link ChecksumWriter} returned them, for a blob of this size
   * @throws BlobDamaged if they are damaged, as they then cannot verify the bytes
   */
  constructor(ref: BlobRef, size: number, stored: Buffer) {
    const end = stored.length - sumBytes;
    const isSound =
      stored.length === storedSize(Math.ceil(size / segmentSize)) &&
      stored[0] === version &&
      crc32(stored.subarray(0, end)) === stored.readUInt32LE(end);
    if (!isSound) throw new BlobDamaged(ref, 'has damaged checksums');
    this.#ref = ref;
    this.#stored = stored;
  }

  /**
   * Verifies bytes that begin with a segment, and end with one or with the blob.
   * @param start the offset in the blob
   * @throws BlobDamaged
   */
  verify(bytes: Uint8Array, start: number): void {
    for (let at = 0; at < bytes.length; at += segmentSize) {
      const expected = this.#stored.readUInt32LE(1 + ((start + at) / segmentSize) * sumBytes);
      if (crc32(bytes.subarray(at, at + segmentSize)) !== expected) {
        throw new BlobDamaged(
          this.#ref,
          `has other bytes between ${start + at} and ${start + at + segmentSize} than were written`,
        );
      }
    }
  }
}

function storedSize(segments: number): number {
  return 1 + (segments + 1) * sumBytes;
}
