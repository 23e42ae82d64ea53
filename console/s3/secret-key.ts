import { hmacSha256, sha256Hex as pureSha256Hex } from './pure-sha256.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * A key that signs and cannot be read: a non-extractable key of WebCrypto or, outside a secure context, where WebCrypto is missing, a
 * closure that lasts as long as the page.
 */
export type SecretKey =
  | { readonly kind: 'webcrypto'; readonly key: CryptoKey }
  | { readonly kind: 'session'; readonly mac: (data: Bytes) => Promise<Bytes> };

const encoder = new TextEncoder();
const hmac = { name: 'HMAC', hash: 'SHA-256' } as const;

/** Returns whether the browser supports non-extractable keys, as it does over HTTPS and on loopback. */
export const hasWebCrypto = (): boolean => globalThis.isSecureContext && 'subtle' in globalThis.crypto;

/** Turns the secret of an access key into a key that signs. Does not keep the text. */
export async function importSecret(secret: string): Promise<SecretKey> {
  const bytes = encoder.encode(`AWS4${secret}`);
  if (hasWebCrypto()) return importBytes(bytes);
  return { kind: 'session', mac: (data) => hmacSha256(bytes, data) };
}

async function importBytes(bytes: Bytes): Promise<SecretKey> {
  const key = await crypto.subtle.importKey('raw', bytes, hmac, false, ['sign']);
  bytes.fill(0);
  return { kind: 'webcrypto', key };
}

async function mac(key: SecretKey, text: string): Promise<Bytes> {
  const data = encoder.encode(text);
  if (key.kind === 'session') return key.mac(data);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key.key, data));
}

/** Derives the signing key of a day: `AWS4` + secret → date → region → service → terminator, each a key that cannot be read. */
export async function deriveSigningKey(
  secret: SecretKey,
  date: string,
  region: string,
  service: string,
): Promise<SecretKey> {
  let key = secret;
  for (const step of [date, region, service, 'aws4_request']) {
    const bytes = await mac(key, step);
    key =
      secret.kind === 'webcrypto'
        ? await importBytes(bytes)
        : { kind: 'session', mac: (data) => hmacSha256(bytes, data) };
  }
  return key;
}

/** Returns the signature of a string to sign, in hexadecimal. */
export async function signText(key: SecretKey, text: string): Promise<string> {
  return toHex(await mac(key, text));
}

/** Returns the SHA-256 of bytes or text, in hexadecimal. */
export async function sha256Hex(data: string | Bytes | ArrayBuffer): Promise<string> {
  const bytes = typeof data === 'string' ? encoder.encode(data) : data;
  if (hasWebCrypto()) return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
  return pureSha256Hex(new Uint8Array(bytes));
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
