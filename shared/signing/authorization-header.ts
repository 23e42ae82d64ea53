import { S3Error } from '../errors/s3-error.ts';
import type { Fields } from '../http/message.ts';
import { allowedSkew, checkCredentialDate, parseSignedHeaders, type SignatureClaim } from './claim.ts';
import { parseCredential } from './credential-scope.ts';
import { dialectOf } from './dialect.ts';
import { firstWord } from './scheme.ts';
import { parseBasicTime, parseHttpDate, printBasicTime, printTime } from './timestamp.ts';

const malformed = 'AuthorizationHeaderMalformed';

/**
 * Reads `Authorization: <algorithm> Credential=…, SignedHeaders=…, Signature=…` and what belongs to it.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-auth-using-authorization-header.html
 *
 * @param now milliseconds since the epoch
 * @throws S3Error AuthorizationHeaderMalformed, AccessDenied (no date), RequestTimeTooSkewed, InvalidRequest (no
 *   x-amz-content-sha256)
 */
export function readAuthorizationHeader(fields: Fields, now: number): SignatureClaim {
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
  const time = requestTime(fields);
  const claim: SignatureClaim = {
    dialect,
    accessKeyId,
    date,
    region,
    signedHeaders: parseSignedHeaders(signedHeaders, malformed),
    signature,
    timestamp: printBasicTime(time),
    payloadHash: fields.get('x-amz-content-sha256') ?? '',
    malformed,
  };
  checkCredentialDate(claim);
  checkSkew(time, now);
  if (claim.payloadHash === '') {
    throw new S3Error('InvalidRequest', { message: 'Missing required header for this request: x-amz-content-sha256' });
  }
  return claim;
}

/** Credential, SignedHeaders and Signature: each once, in any order. */
function parameters(list: string): readonly [string, string, string] {
  const pairs = list.split(',').map((pair) => {
    const equals = pair.indexOf('=');
    return [pair.slice(0, Math.max(equals, 0)).trim(), pair.slice(equals + 1).trim()] as const;
  });
  const found = new Map(pairs);
  const [credential, signedHeaders, signature] = ['Credential', 'SignedHeaders', 'Signature'].map((name) =>
    found.get(name),
  );
  if (pairs.length === 3 && credential !== undefined && signedHeaders !== undefined && signature !== undefined) {
    return [credential, signedHeaders, signature];
  }
  throw new S3Error(malformed, {
    message: 'The authorization header is malformed; it needs Credential, SignedHeaders and Signature, each once.',
  });
}

function requestTime(fields: Fields): number {
  const amzDate = fields.get('x-amz-date');
  const date = fields.get('date') ?? '';
  const time = amzDate !== undefined ? parseBasicTime(amzDate) : (parseHttpDate(date) ?? parseBasicTime(date));
  if (time !== undefined) return time;
  throw new S3Error('AccessDenied', { message: 'A signed request needs a valid x-amz-date or Date header.' });
}

function checkSkew(time: number, now: number): void {
  if (Math.abs(now - time) <= allowedSkew) return;
  throw new S3Error('RequestTimeTooSkewed', {
    details: {
      RequestTime: printBasicTime(time),
      ServerTime: printTime(now),
      MaxAllowedSkewMilliseconds: String(allowedSkew),
    },
  });
}
