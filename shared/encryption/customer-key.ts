import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Randomness } from '../ports/randomness.ts';

/** A version's encryption, as stored with it. The customer's key itself is never stored. */
export type EncryptionRecord =
  | { readonly kind: 'managed' }
  /** A salt and the HMAC of it under the customer's key, which suffice to recognise a wrong key. */
  | { readonly kind: 'customer'; readonly salt: Uint8Array; readonly mac: Uint8Array };

const size = 16;

/** Returns the record to store for a customer's key. */
export function recordOf(key: Uint8Array, randomness: Randomness): EncryptionRecord {
  const salt = randomness.bytes(size);
  return { kind: 'customer', salt, mac: macOf(key, salt) };
}

/** Tells whether a record was made from this key. */
export function isKeyOf(key: Uint8Array, record: EncryptionRecord & { readonly kind: 'customer' }): boolean {
  return timingSafeEqual(macOf(key, record.salt), record.mac);
}

function macOf(key: Uint8Array, salt: Uint8Array): Uint8Array {
  return createHmac('sha256', key).update('stillage key check').update(salt).digest().subarray(0, size);
}

/** Encodes a record as one byte for its kind, followed by the salt and the HMAC for a customer's key. */
export function encodeEncryption(record: EncryptionRecord): Uint8Array {
  return record.kind === 'managed' ? Uint8Array.of(1) : Buffer.concat([Uint8Array.of(2), record.salt, record.mac]);
}

export function decodeEncryption(bytes: Uint8Array): EncryptionRecord {
  if (bytes[0] === 1) return { kind: 'managed' };
  return { kind: 'customer', salt: bytes.subarray(1, 1 + size), mac: bytes.subarray(1 + size) };
}
