import type { BlobRef } from '../../../ports/blob-store.ts';
import type { Randomness } from '../../../ports/randomness.ts';

/**
 * References of blobs, 30 characters:
 *
 *     2   random hexadecimal digits, which are also the directory name, or `sm` for a small blob
 *     1   `0`: the blob has checksums; `-`: it was written by a version without them
 *     7   the time
 *     20  random characters; the last 6 of a small blob with a checksum are the CRC-32 of its stored value
 *
 * The alphabet is in ASCII order, so references with the same beginning sort by time. Versions without checksums wrote
 * the time in 8 characters, the first of which is `-` until the year 2109; so they treat a blob with checksums as very
 * young, and read it correctly.
 */
const alphabet = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const form = /^[0-9a-f]{2}[-0-9A-Z_a-z]{28}$/;
const smallForm = /^sm[-0-9A-Z_a-z]{28}$/;
const markAt = 2;
const mark = '0';
const timeStart = 3;
const timeEnd = 10;
const randomCharacters = 20;
const checksumCharacters = 6;
const checksumStart = timeEnd + randomCharacters - checksumCharacters;

/** The directories of a store. */
export const directories: readonly string[] = Array.from({ length: 256 }, (_, index) => hex(index));

/** Returns a unique reference for a blob stored as a file, with checksums. */
export function blobRef(now: number, randomness: Randomness): BlobRef {
  const random = randomness.bytes(1 + randomCharacters);
  return hex(random[0]!) + mark + encoded(now, timeEnd - timeStart) + characters(random.subarray(1));
}

/**
 * Returns a unique reference for a small blob.
 * @param checksum the CRC-32 of the value stored
 */
export function smallBlobRef(now: number, randomness: Randomness, checksum: number): BlobRef {
  const random = characters(randomness.bytes(randomCharacters - checksumCharacters));
  return `sm${mark}${encoded(now, timeEnd - timeStart)}${random}${encoded(checksum, checksumCharacters)}`;
}

/** Tells whether a string can be the reference of a blob stored as a file. */
export function isBlobRef(text: string): boolean {
  return form.test(text);
}

/** Tells whether a string can be the reference of a small blob. */
export function isSmallBlobRef(text: string): boolean {
  return smallForm.test(text);
}

/** Tells whether a blob was written with checksums: if they are missing, they were lost. */
export function hasChecksums(ref: BlobRef): boolean {
  return ref[markAt] === mark;
}

/** Returns the CRC-32 in the reference of a small blob with a checksum. */
export function checksumOf(ref: BlobRef): number {
  return decoded(ref.slice(checksumStart));
}

export function directoryOf(ref: BlobRef): string {
  return ref.slice(0, markAt);
}

/** Returns when the write of a blob began, in milliseconds since the epoch. */
export function timeOf(ref: BlobRef): number {
  return decoded(ref.slice(timeStart, timeEnd));
}

function encoded(value: number, length: number): string {
  let text = '';
  for (let left = value; text.length < length; left = Math.floor(left / 64)) text = alphabet[left % 64]! + text;
  return text;
}

function decoded(text: string): number {
  return [...text].reduce((value, character) => value * 64 + alphabet.indexOf(character), 0);
}

function characters(random: Uint8Array): string {
  let text = '';
  for (const byte of random) text += alphabet[byte & 63]!;
  return text;
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
