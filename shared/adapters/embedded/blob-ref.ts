import type { BlobRef } from '../../ports/blob-store.ts';

/**
 * Names of blobs: 2 random hexadecimal digits, which are also the name of the directory; the time in 8 characters; 20 random
 * characters. The alphabet is in ASCII order, so within a directory names rise with time.
 */
const alphabet = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const form = /^[0-9a-f]{2}[-0-9A-Z_a-z]{28}$/;
const timeStart = 2;
const timeEnd = 10;
const randomCharacters = 20;

/** The directories of a store. */
export const directories: readonly string[] = Array.from({ length: 256 }, (_, index) => hex(index));

/** A name that no other blob has. */
export function blobRef(now: number, randomBytes: (count: number) => Uint8Array): BlobRef {
  const [directory, ...rest] = randomBytes(1 + randomCharacters);
  let time = '';
  for (let left = now; time.length < timeEnd - timeStart; left = Math.floor(left / 64))
    time = alphabet[left % 64]! + time;
  return hex(directory!) + time + rest.map((byte) => alphabet[byte & 63]!).join('');
}

/** Whether a string can be the name of a blob. */
export function isBlobRef(text: string): boolean {
  return form.test(text);
}

export function directoryOf(ref: BlobRef): string {
  return ref.slice(0, timeStart);
}

/** When the blob's write began, in milliseconds since the epoch. */
export function timeOf(ref: BlobRef): number {
  return [...ref.slice(timeStart, timeEnd)].reduce((ms, character) => ms * 64 + alphabet.indexOf(character), 0);
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
