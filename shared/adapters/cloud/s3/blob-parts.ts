const mebibyte = 1024 * 1024;

/** The size of a blob's first parts. A blob up to this size is written in one request. */
export const firstPartSize = 8 * mebibyte;

/** A part of a blob to be written. */
export interface BlobPart {
  /** Starts at 1. */
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly last: boolean;
}

/**
 * Returns the size of a part. S3 allows 10,000 parts and objects of 5 TiB: the size doubles every 1,000 parts, which is
 * enough for 7.8 TiB. Blobs up to 7.8 GiB, more than S3 accepts in one request, are held 8 MiB at a time.
 */
export function partSize(number: number): number {
  return firstPartSize * 2 ** Math.floor((number - 1) / 1000);
}

/** The number of parts being sent while the next one fills. */
export const partsInFlight = 2;

/**
 * Returns the maximum memory for writing a blob, in bytes: one part for a small blob, otherwise the part being filled
 * and those in flight.
 * @param length of the blob; undefined if unknown. Above 7.8 GiB, more than a request can contain, parts are larger
 */
export function mostHeld(length: number | undefined): number {
  const most = (partsInFlight + 1) * firstPartSize;
  if (length === undefined || length > firstPartSize) return Math.min(most, roundedUp(length ?? most, firstPartSize));
  return roundedUp(length, 64 * 1024);
}

function roundedUp(length: number, unit: number): number {
  return Math.max(1, Math.ceil(length / unit)) * unit;
}

/**
 * Splits a stream into parts, all of full size except the last; an empty stream yields one empty part. Copies the bytes
 * as they arrive, so that a part of a million small chunks takes no more memory than one of a few large ones.
 * @param length the number of bytes, if known, to allocate for the first part
 */
export async function* inParts(
  bytes: AsyncIterable<Uint8Array>,
  length = 64 * 1024,
): AsyncGenerator<BlobPart, void, void> {
  let number = 1;
  let size = partSize(number);
  let buffer: Buffer = Buffer.allocUnsafe(Math.min(length, size));
  let filled = 0;
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length;) {
      // Only now is it clear that the full part is not the last.
      if (filled === size) {
        yield { number, bytes: buffer, last: false };
        size = partSize(++number);
        buffer = Buffer.allocUnsafe(size);
        filled = 0;
      }
      const taken = chunk.subarray(at, at + size - filled);
      if (filled + taken.length > buffer.length) buffer = enlarged(buffer, filled, filled + taken.length, size);
      buffer.set(taken, filled);
      filled += taken.length;
      at += taken.length;
    }
  }
  yield { number, bytes: buffer.subarray(0, filled), last: true };
}

function enlarged(buffer: Buffer, filled: number, needed: number, limit: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(limit, Math.max(needed, buffer.length * 2)));
  larger.set(buffer.subarray(0, filled));
  return larger;
}
