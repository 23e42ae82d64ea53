import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

/*
 * The encryption of blobs: AES-256-GCM in segments, so that a range can be decrypted by itself. The format of a blob:
 *
 *   salt (32 bytes) ‖ segment ‖ segment ‖ …        segment = ciphertext of up to 64 KiB ‖ tag (16 bytes)
 *
 * The key of a blob is derived from the customer's or the service's key and the blob's random salt (HKDF-SHA256). Since
 * every blob has a different key, the nonce can be a counter: the number of the segment, and whether it is the last. A
 * segment that was moved, omitted or taken from another blob fails authentication, and so does a truncated blob.
 */

const algorithm = 'aes-256-gcm';
export const saltBytes = 32;
const segmentBytes = 64 * 1024;
const tagBytes = 16;
const sealedSegmentBytes = segmentBytes + tagBytes;

/** A range of plaintext bytes, both ends inclusive. */
export interface Stretch {
  readonly first: number;
  readonly last: number;
}

/** The ciphertext is not what was written. */
export class DamagedCiphertext extends Error {
  constructor(options?: ErrorOptions) {
    super('encrypted content does not authenticate', options);
  }
}

/** Encrypts a stream. `salt` must be fresh and random. */
export async function* encrypt(
  bytes: AsyncIterable<Uint8Array>,
  key: Uint8Array,
  salt: Uint8Array,
): AsyncGenerator<Uint8Array> {
  const blobKey = deriveKey(key, salt);
  yield salt;
  let number = 0;
  let pending = Buffer.allocUnsafe(segmentBytes);
  let filled = 0;
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.byteLength;) {
      // A full segment is sealed only when more bytes follow, since the last segment must be marked as such.
      if (filled === segmentBytes) {
        yield seal(blobKey, pending, number, false);
        number += 1;
        pending = Buffer.allocUnsafe(segmentBytes);
        filled = 0;
      }
      const taken = Math.min(segmentBytes - filled, chunk.byteLength - at);
      pending.set(chunk.subarray(at, at + taken), filled);
      filled += taken;
      at += taken;
    }
  }
  yield seal(blobKey, pending.subarray(0, filled), number, true);
}

/** Returns the range of a blob that is needed to decrypt a range of its plaintext. */
export function sealedStretch(size: number, { first, last }: Stretch): Stretch {
  const firstSegment = Math.floor(first / segmentBytes);
  const lastSegment = Math.floor(last / segmentBytes);
  return {
    first: saltBytes + firstSegment * sealedSegmentBytes,
    last: Math.min(saltBytes + (lastSegment + 1) * sealedSegmentBytes, sealedSize(size)) - 1,
  };
}

/** Returns the size of a blob from the size of its plaintext, both in bytes. */
export function sealedSize(size: number): number {
  return saltBytes + size + Math.max(1, Math.ceil(size / segmentBytes)) * tagBytes;
}

/**
 * Decrypts a range.
 * @param sealed the bytes of the range that {@link sealedStretch} returns
 * @param size of the whole plaintext, in bytes
 * @throws DamagedCiphertext before yielding any plaintext of the damaged segment
 */
export async function* decrypt(
  sealed: AsyncIterable<Uint8Array>,
  key: Uint8Array,
  salt: Uint8Array,
  size: number,
  { first, last }: Stretch,
): AsyncGenerator<Uint8Array> {
  const blobKey = deriveKey(key, salt);
  const lastOfAll = Math.max(0, Math.ceil(size / segmentBytes) - 1);
  let number = Math.floor(first / segmentBytes);
  for await (const segment of segments(sealed)) {
    const plain = open(blobKey, segment, number, number === lastOfAll);
    const start = number * segmentBytes;
    yield plain.subarray(Math.max(0, first - start), Math.min(plain.byteLength, last + 1 - start));
    number += 1;
  }
  if (number !== Math.floor(last / segmentBytes) + 1) throw new DamagedCiphertext();
}

/** Splits a stream into sealed segments; the last may be shorter. */
async function* segments(sealed: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let pending = Buffer.allocUnsafe(sealedSegmentBytes);
  let filled = 0;
  for await (const chunk of sealed) {
    for (let at = 0; at < chunk.byteLength;) {
      const taken = Math.min(sealedSegmentBytes - filled, chunk.byteLength - at);
      pending.set(chunk.subarray(at, at + taken), filled);
      filled += taken;
      at += taken;
      if (filled === sealedSegmentBytes) {
        yield pending;
        pending = Buffer.allocUnsafe(sealedSegmentBytes);
        filled = 0;
      }
    }
  }
  if (filled > 0) yield pending.subarray(0, filled);
}

function seal(key: Uint8Array, plain: Uint8Array, number: number, isLast: boolean): Buffer {
  const cipher = createCipheriv(algorithm, key, nonce(number, isLast), { authTagLength: tagBytes });
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function open(key: Uint8Array, segment: Buffer, number: number, isLast: boolean): Buffer {
  if (segment.byteLength < tagBytes) throw new DamagedCiphertext();
  const end = segment.byteLength - tagBytes;
  const decipher = createDecipheriv(algorithm, key, nonce(number, isLast), { authTagLength: tagBytes });
  decipher.setAuthTag(segment.subarray(end));
  try {
    return Buffer.concat([decipher.update(segment.subarray(0, end)), decipher.final()]);
  } catch (cause) {
    throw new DamagedCiphertext({ cause });
  }
}

/** Returns 12 bytes: the segment's number in the last 8 but one, and 1 in the last byte for the last segment. */
function nonce(number: number, isLast: boolean): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUIntBE(number, 5, 6);
  bytes[11] = isLast ? 1 : 0;
  return bytes;
}

function deriveKey(key: Uint8Array, salt: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, salt, 'stillage blob', 32));
}
