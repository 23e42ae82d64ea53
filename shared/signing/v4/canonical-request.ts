import { foldBlanks } from '../../http/fields/field-syntax.ts';
import type { Fields } from '../../http/message.ts';
import type { QueryParameter } from '../../http/query.ts';

/**
 * The parts of a canonical request, as text whose characters are bytes (header values are latin1, everything else is
 * ASCII).
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
  let headers = '';
  for (const name of signedHeaders) headers += `${name}:${trimmedValues(fields, name)}\n`;
  return `${method}\n${uri}\n${query}\n${headers}\n${signedHeaders.join(';')}\n${payloadHash}`;
}

function trimmedValues(fields: Fields, name: string): string {
  if (fields.isRepeated(name)) return fields.all(name).map(foldBlanks).join(',');
  return foldBlanks(fields.get(name) ?? '');
}

/**
 * Matches a value that can be a line of a canonical request as sent; anything else could be mistaken for several lines.
 */
export const visibleAscii = /^[\x21-\x7e]*$/;

const unreserved = /[A-Za-z0-9\-._~]/;
/** The form that most clients send: unreserved characters as they are, all others as normalised escapes. */
const canonicalText = canonical('[A-Za-z0-9\\-._~]*');
const canonicalPath = canonical('[A-Za-z0-9\\-._~/]*');
const inPath = /%([0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~/]/gu;
const inText = /%([0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~]/gu;

function canonical(bare: string): RegExp {
  // Linear: each escape begins with a character that occurs nowhere else.
  // eslint-disable-next-line stillage/linear-patterns -- made of the two literals above
  return new RegExp(`^${bare}(?:%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF])${bare})*$`);
}

/** Returns the path as S3 signs it: with normalised escapes, but without normalising its segments. */
export function canonicalUri(rawPath: string): string {
  return canonicalPath.test(rawPath) ? rawPath : normaliseEscapes(rawPath, inPath);
}

/**
 * Returns the query as S3 signs it.
 *
 * @param plus the meaning of a raw `+`: a space, or itself for clients that do not escape it
 */
export function canonicalQuery(parameters: readonly QueryParameter[], plus: '%20' | '%2B'): string {
  const pairs = parameters.map(({ rawName, rawValue }) => ({
    name: canonicalPiece(rawName, plus),
    value: canonicalPiece(rawValue, plus),
  }));
  pairs.sort((a, b) => compare(a.name, b.name) || compare(a.value, b.value));
  let query = '';
  for (const { name, value } of pairs) query += `${query === '' ? '' : '&'}${name}=${value}`;
  return query;
}

function canonicalPiece(raw: string, plus: '%20' | '%2B'): string {
  return canonicalText.test(raw) ? raw : normaliseEscapes(raw.replaceAll('+', plus), inText);
}

/** The canonical form of each byte: unreserved characters as they are, others escaped. */
const written: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return unreserved.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

/**
 * Applies UriEncode to text after decoding it once. Works on bytes, so that invalid UTF-8 needs no special handling.
 */
function normaliseEscapes(raw: string, escapable: RegExp): string {
  return raw.replace(escapable, (character, hex?: string) =>
    hex === undefined
      ? Array.from(Buffer.from(character), (byte) => written[byte]!).join('')
      : written[parseInt(hex, 16)]!,
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
