import { invalidArgument } from '../errors/s3-error.ts';

/**
 * The `encoding-type=url` option, by which listings can name keys that XML cannot carry. Compatible with xml/listings.
 */
export interface UrlEncoding {
  readonly type: 'url';
  /** Tells of every byte of UTF-8 whether it is left unchanged. */
  readonly unchanged: Uint8Array;
  encode(name: string): string;
}

/**
 * Percent-encodes all characters except `A-Z a-z 0-9 - _ . ~ * /`. A space becomes `%20` and a plus `%2B`, since
 * clients decode a bare plus to a space.
 */
export function encodeName(name: string): string {
  if (plain.test(name)) return name;
  return encodeURIComponent(name).replace(/%2F|[!'()]/g, (text) => exceptions[text]!);
}

const plain = /^[A-Za-z0-9\-_.~*/]*$/;
const exceptions: Readonly<Record<string, string>> = { '%2F': '/', '!': '%21', "'": '%27', '(': '%28', ')': '%29' };

const unchanged = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x80 && plain.test(String.fromCharCode(byte)) ? 1 : 0,
);
const urlEncoding: UrlEncoding = { type: 'url', unchanged, encode: encodeName };

/**
 * Reads the query parameter `encoding-type` of a listing.
 * @throws S3Error InvalidArgument for any value other than `url`
 */
export function parseEncodingType(value: string | undefined): UrlEncoding | undefined {
  if (value === undefined || value === '') return undefined;
  if (value !== 'url') throw invalidArgument('encoding-type', value, 'Invalid Encoding Method specified in Request');
  return urlEncoding;
}
