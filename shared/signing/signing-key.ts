import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CredentialScope } from './credential-scope.ts';

const maxKept = 1000;
/** Regions are the client's words: a long one is not worth keeping. */
const maxRegionKeptLength = 64;
/** Keys by what they are derived from, the oldest first. A key serves a client for a whole day. */
const kept = new Map<string, Buffer>();

/**
 * The key that signs on one day, in one region, derived from the secret by four HMACs.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export function signingKey(secret: string, { dialect, date, region }: CredentialScope): Buffer {
  if (region.length > maxRegionKeptLength) return derive(secret, { dialect, date, region });
  // None of the pieces before the secret can contain a line feed, so no two derivations share an entry.
  const entry = [dialect.algorithm, date, region, secret].join('\n');
  const known = kept.get(entry);
  if (known !== undefined) return known;
  const key = derive(secret, { dialect, date, region });
  kept.set(entry, key);
  if (kept.size > maxKept) kept.delete(kept.keys().next().value!);
  return key;
}

function derive(secret: string, { dialect, date, region }: CredentialScope): Buffer {
  return [date, region, dialect.service, dialect.terminator].reduce(hmac, Buffer.from(dialect.keyPrefix + secret));
}

/** HMAC-SHA256 of a text whose characters are bytes. */
function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'latin1').digest();
}

const hexDigest = /^[0-9a-f]{64}$/;

/**
 * Whether a signature, in lower-case hexadecimal, is the HMAC-SHA256 of a text whose characters are bytes; in a time that does not
 * tell how much of it is.
 */
export function isSignatureOf(text: string, key: Uint8Array, signature: string): boolean {
  if (!hexDigest.test(signature)) return false;
  // Digits are compared rather than bytes: a digest in a buffer of its own costs more than printing it.
  const expected = createHmac('sha256', key).update(text, 'latin1').digest('hex');
  return timingSafeEqual(Buffer.from(expected, 'latin1'), Buffer.from(signature, 'latin1'));
}
