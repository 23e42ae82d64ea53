import type { BlobOwner } from '../../../ports/blob-store.ts';

/**
 * The format of a blob file: a header of fixed size followed by the bytes, so that ranges have known offsets and the
 * file size gives the blob size.
 *
 *     0   "STILBLOB"
 *     8   version of this format, 1
 *     9   size of the bucket id
 *     10  size of the key, 16 bits, little-endian
 *     12  bucket id, key; zeros up to 1,152
 *
 * The owner is for the scrub, and for recovering files without the table.
 */
export const headerSize = 1152;

const magic = Buffer.from('STILBLOB');
const version = 1;
const textStart = 12;

/** Writes the header at the start of a buffer. */
export function writeHeader(target: Buffer, { bucketId, key }: BlobOwner): void {
  const bucketIdSize = Buffer.byteLength(bucketId);
  const keySize = Buffer.byteLength(key);
  if (bucketIdSize > 255 || textStart + bucketIdSize + keySize > headerSize) {
    throw new Error(`the owner of a blob is too long: ${bucketIdSize} and ${keySize} bytes`);
  }
  target.fill(0, 0, headerSize);
  magic.copy(target);
  target[magic.length] = version;
  target[magic.length + 1] = bucketIdSize;
  target.writeUInt16LE(keySize, magic.length + 2);
  target.write(bucketId, textStart);
  target.write(key, textStart + bucketIdSize);
}

/**
 * Returns the owner that a header names, or undefined if the header is incomplete or of an unknown version: the file
 * was never finished.
 */
export function readHeader(bytes: Buffer): BlobOwner | undefined {
  if (bytes.length < headerSize || !bytes.subarray(0, magic.length).equals(magic)) return undefined;
  if (bytes[magic.length] !== version) return undefined;
  const keyStart = textStart + bytes[magic.length + 1]!;
  const keyEnd = keyStart + bytes.readUInt16LE(magic.length + 2);
  return { bucketId: bytes.toString('utf8', textStart, keyStart), key: bytes.toString('utf8', keyStart, keyEnd) };
}
