import { S3Error } from '../../errors/s3-error.ts';
import { parseHttpDate } from '../../http/fields/dates.ts';
import type { Fields } from '../../http/message.ts';
import { checkCredentialDate, checkSkew, parseSignedHeaders, type SignatureClaim, type Timing } from '../claim.ts';
import { parseCredential, dialectOf } from './credential-scope.ts';
import { firstWord } from '../scheme.ts';
import { parseBasicTime, printBasicTime } from '../timestamp.ts';

const malformed = 'AuthorizationHeaderMalformed';

/**
 * Reads `Authorization: <algorithm> Credential=…, SignedHeaders=…, Signature=…` and the related headers.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-auth-using-authorization-header.html
 *
 * @param api the service that the request is for, and the hash of its body, if not S3: its clients need not send the hash
 * @throws S3Error AuthorizationHeaderMalformed, AccessDenied (no date), RequestTimeTooSkewed, InvalidRequest (no
 *   x-amz-content-sha256)
 */
export function readAuthorizationHeader(
  fields: Fields,
  timing: Timing,
  api?: { readonly service: string; readonly payloadHash: string },
): SignatureClaim {
  const { signature, statement } = readStatement(fields.get('authorization') ?? '', api?.service);
  const { time, timestamp } = requestTime(fields);
  const claim: SignatureClaim = {
    dialect: statement.dialect,
    accessKeyId: statement.accessKeyId,
    date: statement.date,
    region: statement.region,
    service: statement.service,
    signedHeaders: statement.signedHeaders,
    signature,
    timestamp,
    payloadHash: api?.payloadHash ?? fields.get('x-amz-content-sha256') ?? '',
    malformed,
  };
  checkCredentialDate(claim);
  checkSkew(time, timing);
  if (claim.payloadHash === '') {
    throw new S3Error('InvalidRequest', { message: 'Missing required header for this request: x-amz-content-sha256' });
  }
  return claim;
}

/** The contents of the header besides the signature. They stay the same for a client all day. */
type Statement = Pick<SignatureClaim, 'dialect' | 'accessKeyId' | 'date' | 'region' | 'service' | 'signedHeaders'>;

const maxKept = 1000;
const maxKeptLength = 512;
/** Cached statements by the text before the signature that ends the header, the oldest first. */
const kept = new Map<string, Statement>();

const signatureLength = 64;
const signatureForm = /^[0-9a-f]{64}$/;

/** Parses the header. @throws S3Error AuthorizationHeaderMalformed */
function readStatement(
  authorization: string,
  service: string | undefined,
): { readonly signature: string; readonly statement: Statement } {
  const before = authorization.slice(0, -signatureLength);
  const last = authorization.slice(-signatureLength);
  const known = kept.get(before);
  const isKnown = known?.service === (service ?? known?.dialect.service);
  if (known !== undefined && isKnown && signatureForm.test(last)) return { signature: last, statement: known };
  const read = parseStatement(authorization, service);
  // A header that differs only in these digits would yield the same statement.
  if (before.endsWith('Signature=') && read.signature === last && before.length <= maxKeptLength) {
    kept.set(before, read.statement);
    if (kept.size > maxKept) kept.delete(kept.keys().next().value!);
  }
  return read;
}

function parseStatement(
  authorization: string,
  service: string | undefined,
): { readonly signature: string; readonly statement: Statement } {
  // Characters outside ASCII could be a blank to one parser and a letter to another.
  if (!/^[\t\x20-\x7e]*$/.test(authorization)) throw new S3Error(malformed);
  const { word, rest } = firstWord(authorization);
  const dialect = dialectOf(word);
  if (!dialect) throw new S3Error(malformed);
  const [credential, signedHeaders, signature] = parameters(rest);
  if (!signatureForm.test(signature)) {
    throw new S3Error(malformed, { message: 'The Signature must consist of 64 lower-case hexadecimal digits.' });
  }
  const scope = parseCredential(credential, dialect, malformed, service);
  const names = parseSignedHeaders(signedHeaders, malformed);
  return { signature, statement: { ...scope, signedHeaders: names } };
}

const names = ['Credential', 'SignedHeaders', 'Signature'] as const;

/** Returns Credential, SignedHeaders and Signature, which must each occur once, in any order. */
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

/** Returns the time at which a request was signed, in milliseconds, and as written in the string to sign. */
function requestTime(fields: Fields): { readonly time: number; readonly timestamp: string } {
  const text = fields.get('x-amz-date') ?? fields.get('date') ?? '';
  const basic = parseBasicTime(text);
  if (basic !== undefined) return { time: basic, timestamp: text };
  const time = fields.has('x-amz-date') ? undefined : parseHttpDate(text);
  if (time !== undefined) return { time, timestamp: printBasicTime(time) };
  throw new S3Error('AccessDenied', { message: 'A signed request needs a valid x-amz-date or Date header.' });
}
