import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Randomness } from '../ports/randomness.ts';

/** How a version is encrypted, as it is kept with it. The customer's key itself is never kept. */
export type EncryptionRecord =
  | { readonly kind: 'managed' }
  /** `salt` and an HMAC of it under the customer's key: enough to recognise a wrong key. */
  | { readonly kind: 'customer'; readonly salt: Uint8Array; readonly mac: Uint8Array };

const size = 16;

/** What is kept about a customer's key. */
export function recordOf(key: Uint8Array, randomness: Randomness): EncryptionRecord {
  const salt = randomness.bytes(size);
  return { kind: 'customer', salt, mac: macOf(key, salt) };
}

/** Whether this is the key that a record was made of. */
export function isKeyOf(key: Uint8Array, record: EncryptionRecord & { readonly kind: 'customer' }): boolean {
  return timingSafeEqual(macOf(key, record.salt), record.mac);
}

function macOf(key: Uint8Array, salt: Uint8Array): Uint8Array {
  return createHmac('sha256', key).update('stillage key check').update(salt).digest().subarray(0, size);
}

/** One byte for the kind; for a customer's key the salt and the HMAC follow. */
export function encodeEncryption(record: EncryptionRecord): Uint8Array {
  return record.kind === 'managed' ? Uint8Array.of(1) : Buffer.concat([Uint8Array.of(2), record.salt, record.mac]);
}

export function decodeEncryption(bytes: Uint8Array): EncryptionRecord {
  if (bytes[0] === 1) return { kind: 'managed' };
  return { kind: 'customer', salt: bytes.subarray(1, 1 + size), mac: bytes.subarray(1 + size) };
}
