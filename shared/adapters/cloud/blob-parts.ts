const mebibyte = 1024 * 1024;

/** The size of the parts until a blob is so large that they would run out. A blob of no more than one goes in one piece. */
export const firstPartSize = 8 * mebibyte;

/** One piece of a blob on its way into the store. */
export interface BlobPart {
  /** From 1 on. */
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly last: boolean;
}

/**
 * The size of a part. S3 takes 10,000 parts and objects of 5 TiB: the size doubles every 1,000 parts, which is enough for
 * 7.8 TiB. Blobs of up to 7.8 GiB, and S3 accepts no larger upload in one request, are held 8 MiB at a time.
 */
export function partSize(number: number): number {
  return firstPartSize * 2 ** Math.floor((number - 1) / 1000);
}

/** So many parts are on their way while the next one fills. */
export const partsInFlight = 2;

/**
 * The memory that a blob takes on its way into the store, in bytes, at most: one piece, or the part that fills and those in flight.
 * @param length of the blob; undefined: it is not known. Above 7.8 GiB, which is more than a request can bring, parts are larger
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
 * Cuts a stream into parts, each full but the last; a stream of no bytes is one empty part. The bytes are copied as they
 * come: a part made of a million slivers must not weigh more than one made of a few chunks.
 * @param length the number of bytes if it is known: so much is set aside for the first part
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
      // Only now is it known that the full part is not the last.
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
