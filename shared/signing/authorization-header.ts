import { S3Error } from '../errors/s3-error.ts';
import { parseHttpDate } from '../http/dates.ts';
import type { Fields } from '../http/message.ts';
import { checkCredentialDate, checkSkew, parseSignedHeaders, type SignatureClaim, type Timing } from './claim.ts';
import { parseCredential } from './credential-scope.ts';
import { dialectOf } from './dialect.ts';
import { firstWord } from './scheme.ts';
import { parseBasicTime, printBasicTime } from './timestamp.ts';

const malformed = 'AuthorizationHeaderMalformed';

/**
 * Reads `Authorization: <algorithm> Credential=…, SignedHeaders=…, Signature=…` and what belongs to it.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-auth-using-authorization-header.html
 *
 * @throws S3Error AuthorizationHeaderMalformed, AccessDenied (no date), RequestTimeTooSkewed, InvalidRequest (no
 *   x-amz-content-sha256)
 */
export function readAuthorizationHeader(fields: Fields, timing: Timing): SignatureClaim {
  const authorization = fields.get('authorization') ?? '';
  // What is not ASCII could be a blank to one reader and a letter to another.
  if (!/^[\t\x20-\x7e]*$/.test(authorization)) throw new S3Error(malformed);
  const { word, rest } = firstWord(authorization);
  const dialect = dialectOf(word);
  if (!dialect) throw new S3Error(malformed);
  const [credential, signedHeaders, signature] = parameters(rest);
  if (!/^[0-9a-f]{64}$/.test(signature)) {
    throw new S3Error(malformed, { message: 'The Signature is not of 64 lower-case hexadecimal digits.' });
  }
  const { accessKeyId, date, region } = parseCredential(credential, dialect, malformed);
  const { time, timestamp } = requestTime(fields);
  const claim: SignatureClaim = {
    dialect,
    accessKeyId,
    date,
    region,
    signedHeaders: parseSignedHeaders(signedHeaders, malformed),
    signature,
    timestamp,
    payloadHash: fields.get('x-amz-content-sha256') ?? '',
    malformed,
  };
  checkCredentialDate(claim);
  checkSkew(time, timing);
  if (claim.payloadHash === '') {
    throw new S3Error('InvalidRequest', { message: 'Missing required header for this request: x-amz-content-sha256' });
  }
  return claim;
}

const names = ['Credential', 'SignedHeaders', 'Signature'] as const;

/** Credential, SignedHeaders and Signature: each once, in any order. */
function parameters(list: string): readonly [string, string, string] {
  const pairs = list.split(',');
  const values = new Map<string, string>();
  for (const pair of pairs) {
    const equals = Math.max(pair.indexOf('='), 0);
    values.set(pair.slice(0, equals).trim(), pair.slice(equals + 1).trim());
  }
  const [credential, signedHeaders, signature] = names.map((name) => values.get(name));
  if (pairs.length === 3 && credential !== undefined && signedHeaders !== undefined && signature !== undefined) {
    return [credential, signedHeaders, signature];
  }
  throw new S3Error(malformed, {
    message: 'The authorization header is malformed; it needs Credential, SignedHeaders and Signature, each once.',
  });
}

/** When a request was signed, in milliseconds, and as it stands in the string to sign. */
function requestTime(fields: Fields): { readonly time: number; readonly timestamp: string } {
  const text = fields.get('x-amz-date') ?? fields.get('date') ?? '';
  const basic = parseBasicTime(text);
  if (basic !== undefined) return { time: basic, timestamp: text };
  const time = fields.has('x-amz-date') ? undefined : parseHttpDate(text);
  if (time !== undefined) return { time, timestamp: printBasicTime(time) };
  throw new S3Error('AccessDenied', { message: 'A signed request needs a valid x-amz-date or Date header.' });
}
