import type { BlobRef } from '../../ports/blob-store.ts';
import type { Randomness } from '../../ports/randomness.ts';

/**
 * References of blobs: 2 random hexadecimal digits, which are also the directory name, or `sm` for a small blob; the
 * time in 8 characters; 20 random characters. The alphabet is in ASCII order, so references with the same beginning
 * sort by time.
 */
const alphabet = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const form = /^[0-9a-f]{2}[-0-9A-Z_a-z]{28}$/;
const smallForm = /^sm[-0-9A-Z_a-z]{28}$/;
const timeStart = 2;
const timeEnd = 10;
const randomCharacters = 20;

/** The directories of a store. */
export const directories: readonly string[] = Array.from({ length: 256 }, (_, index) => hex(index));

/** Returns a unique reference for a blob stored as a file. */
export function blobRef(now: number, randomness: Randomness): BlobRef {
  const random = randomness.bytes(1 + randomCharacters);
  return hex(random[0]!) + nameOf(now, random.subarray(1));
}

/** Returns a unique reference for a small blob. */
export function smallBlobRef(now: number, randomness: Randomness): BlobRef {
  return `sm${nameOf(now, randomness.bytes(randomCharacters))}`;
}

function nameOf(now: number, random: Uint8Array): string {
  let name = '';
  for (let left = now; name.length < timeEnd - timeStart; left = Math.floor(left / 64))
    name = alphabet[left % 64]! + name;
  for (const byte of random) name += alphabet[byte & 63]!;
  return name;
}

/** Tells whether a string can be the reference of a blob stored as a file. */
export function isBlobRef(text: string): boolean {
  return form.test(text);
}

/** Tells whether a string can be the reference of a small blob. */
export function isSmallBlobRef(text: string): boolean {
  return smallForm.test(text);
}

export function directoryOf(ref: BlobRef): string {
  return ref.slice(0, timeStart);
}

/** Returns when the write of a blob began, in milliseconds since the epoch. */
export function timeOf(ref: BlobRef): number {
  return [...ref.slice(timeStart, timeEnd)].reduce((ms, character) => ms * 64 + alphabet.indexOf(character), 0);
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
