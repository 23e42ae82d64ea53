import type { Fields } from '../http/message.ts';
import type { QueryParameter } from '../http/query.ts';

/**
 * The parts of a canonical request, as text whose characters are bytes (header values are latin1, all else is ASCII).
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html#canonical-request
 */
export interface CanonicalParts {
  readonly method: string;
  readonly uri: string;
  readonly query: string;
  readonly fields: Fields;
  readonly signedHeaders: readonly string[];
  readonly payloadHash: string;
}

export function canonicalRequest({ method, uri, query, fields, signedHeaders, payloadHash }: CanonicalParts): string {
  const headers = signedHeaders.map((name) => `${name}:${fields.all(name).map(trimmed).join(',')}\n`).join('');
  return [method, uri, query, headers, signedHeaders.join(';'), payloadHash].join('\n');
}

/** Only blanks and tabs are space: the bytes of UTF-8 must not be taken for anything else. */
function trimmed(value: string): string {
  return value.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '');
}

/** The path as S3 signs it: escapes normalised, segments left as they are, whatever they say. */
export function canonicalUri(rawPath: string): string {
  return normaliseEscapes(rawPath, /%([0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~/]/gu);
}

/**
 * The query as S3 signs it.
 *
 * @param plus what a raw `+` stands for: a space, or itself to clients that do not escape it
 */
export function canonicalQuery(parameters: readonly QueryParameter[], plus: '%20' | '%2B'): string {
  const normalise = (raw: string) =>
    normaliseEscapes(raw.replaceAll('+', plus), /%([0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~]/gu);
  return parameters
    .map(({ rawName, rawValue }) => ({ name: normalise(rawName), value: normalise(rawValue) }))
    .sort((a, b) => compare(a.name, b.name) || compare(a.value, b.value))
    .map(({ name, value }) => `${name}=${value}`)
    .join('&');
}

/** UriEncode of what was decoded once. Works on bytes, so that invalid UTF-8 is nothing special. */
function normaliseEscapes(raw: string, escapable: RegExp): string {
  return raw.replace(escapable, (character, hex?: string) => {
    if (hex === undefined) return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&');
    const byte = String.fromCharCode(parseInt(hex, 16));
    return /[A-Za-z0-9\-._~]/.test(byte) ? byte : `%${hex.toUpperCase()}`;
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
