import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { CredentialScope } from './credential-scope.ts';

const maxKept = 1000;
/** The client chooses the region, so keys for long ones are not cached. */
const maxRegionKeptLength = 64;
/** Cached keys by the values they are derived from, the oldest first. A key serves a client for a whole day. */
const kept = new Map<string, Buffer>();

/**
 * Returns the signing key for one day and one region, derived from the secret by four HMACs.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export function signingKey(secret: string, scope: CredentialScope): Buffer {
  const { dialect, date, region, service } = scope;
  if (region.length > maxRegionKeptLength) return derive(secret, scope);
  // None of the values before the secret can contain a line feed, so no two derivations share an entry.
  const entry = [dialect.algorithm, date, region, service, secret].join('\n');
  const known = kept.get(entry);
  if (known !== undefined) return known;
  const key = derive(secret, scope);
  kept.set(entry, key);
  if (kept.size > maxKept) kept.delete(kept.keys().next().value!);
  return key;
}

function derive(secret: string, { dialect, date, region, service }: CredentialScope): Buffer {
  return [date, region, service, dialect.terminator].reduce(hmac, Buffer.from(dialect.keyPrefix + secret));
}

/** Returns the HMAC-SHA256 of a text whose characters are bytes. */
function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'latin1').digest();
}

const hexDigest = /^[0-9a-f]{64}$/;

/**
 * Tells, in constant time, whether a signature in lower-case hexadecimal is the HMAC-SHA256 of a text whose characters
 * are bytes.
 */
export function isSignatureOf(text: string, key: Uint8Array, signature: string): boolean {
  if (!hexDigest.test(signature)) return false;
  // Compares digits rather than bytes, since a digest in a separate buffer costs more than encoding it.
  const expected = hmacHex(key, text);
  return timingSafeEqual(Buffer.from(expected, 'latin1'), Buffer.from(signature, 'latin1'));
}

/** The sizes of a block of SHA-256 and of a digest in bytes. */
const blockSize = 64;
const digestSize = 32;
/** The most bytes of text that fit into the buffer for it: more than any string to sign has, so that nothing is allocated. */
const maxTextSize = 1024;
const inner = Buffer.alloc(blockSize + maxTextSize);
const outer = Buffer.alloc(blockSize + digestSize);

/**
 * Returns the HMAC-SHA256 of a text whose characters are bytes, in hexadecimal: two digests (RFC 2104 §2). An `Hmac` of Node's is a stream,
 * and takes more than both.
 * @param key no longer than a block
 */
function hmacHex(key: Uint8Array, text: string): string {
  if (key.length > blockSize || text.length > maxTextSize) {
    return createHmac('sha256', key).update(text, 'latin1').digest('hex');
  }
  for (let at = 0; at < blockSize; at += 1) {
    const byte = at < key.length ? key[at]! : 0;
    inner[at] = byte ^ 0x36;
    outer[at] = byte ^ 0x5c;
  }
  inner.write(text, blockSize, 'latin1');
  outer.write(hash('sha256', inner.subarray(0, blockSize + text.length), 'binary'), blockSize, 'latin1');
  return hash('sha256', outer, 'hex');
}
