// HMAC for pages without WebCrypto: those loaded over plain HTTP from another machine. Loaded only there.
type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the HMAC-SHA256 of data. */
export async function hmacSha256(key: Bytes, data: Bytes): Promise<Bytes> {
  const [{ hmac }, { sha256 }] = await load();
  return new Uint8Array(hmac(sha256, key, data));
}

/** Returns the SHA-256 of data, in hexadecimal. */
export async function sha256Hex(data: Bytes): Promise<string> {
  const [, { sha256 }] = await load();
  return Array.from(sha256(data), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const load = () => Promise.all([import('@noble/hashes/hmac.js'), import('@noble/hashes/sha2.js')]);
