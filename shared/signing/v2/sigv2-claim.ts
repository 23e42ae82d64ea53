import { invalidArgument, S3Error } from '../../errors/s3-error.ts';
import { parseHttpDate } from '../../http/fields/dates.ts';
import type { Fields } from '../../http/message.ts';
import type { Query, QueryParameter } from '../../http/query.ts';
import { checkSkew, type Timing } from '../claim.ts';
import { firstWord } from '../scheme.ts';
import { parseBasicTime, printTime } from '../timestamp.ts';

/** A V2 signature and its parameters, from a header or the query. Well-formed but not verified. */
export interface V2Claim {
  readonly accessKeyId: string;
  /** Base64, as sent. */
  readonly signature: string;
  /** The date line of the string to sign. */
  readonly dateLine: string;
}

/**
 * Reads `Authorization: AWS <key id>:<signature>`, where the word may also be `SVC` or missing, and the date of the
 * request. `x-amz-date` takes precedence over `Date`, whose line in the string to sign is then empty.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html#ConstructingTheAuthenticationHeader
 *
 * @throws S3Error AccessDenied (no valid date), RequestTimeTooSkewed
 */
export function readV2Header(fields: Fields, timing: Timing): V2Claim {
  const { word, rest } = firstWord(fields.get('authorization') ?? '');
  const pair = rest === '' ? word : rest;
  // Key ids may contain colons.
  const colon = pair.lastIndexOf(':');
  const amzDate = fields.get('x-amz-date');
  const date = fields.get('date') ?? '';
  const time = parseTime(amzDate ?? date);
  if (time === undefined) {
    throw new S3Error('AccessDenied', { message: 'AWS authentication requires a valid Date or x-amz-date header' });
  }
  checkSkew(time, timing);
  return {
    accessKeyId: pair.slice(0, colon),
    signature: pair.slice(colon + 1),
    dateLine: amzDate === undefined ? date : '',
  };
}

/** Parses an HTTP date, or the version 4 format, which some clients send in x-amz-date. */
function parseTime(text: string): number | undefined {
  const time = parseHttpDate(text) ?? parseBasicTime(text);
  return time !== undefined && time >= 0 ? time : undefined;
}

const keyIdNames: readonly string[] = ['awsaccesskeyid', 'svcaccesskeyid'];

/**
 * Reads the parameters AWSAccessKeyId (or SVCAccessKeyId), Expires and Signature of a presigned URL. Their names are
 * case-insensitive. The expiry is the date line of the string to sign.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html#RESTAuthenticationQueryStringAuth
 *
 * @throws S3Error AccessDenied (incomplete, invalid expiry, too far away or past), InvalidArgument (two access keys)
 */
export function readV2Query(query: Query, timing: Timing): V2Claim {
  const named = (...names: readonly string[]): readonly QueryParameter[] =>
    query.parameters.filter(({ name }) => names.includes(name.toLowerCase()));
  const keyIds = named(...keyIdNames);
  if (keyIds.length > 1) throw invalidArgument(keyIds[1]!.name, keyIds[1]!.value, 'The URL has two access key ids.');
  const [accessKeyId, expires, signature] = [keyIds, named('expires'), named('signature')].map(onlyValue);
  if (!accessKeyId || !expires || !signature) {
    throw new S3Error('AccessDenied', {
      message: 'Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters, each once.',
    });
  }
  checkExpiry(expires, timing);
  // Base64 has no blanks, and some clients do not escape its plus sign.
  return { accessKeyId, signature: signature.replaceAll(' ', '+'), dateLine: expires };
}

function onlyValue(parameters: readonly QueryParameter[]): string | undefined {
  return parameters.length === 1 ? parameters[0]!.value : undefined;
}

/**
 * Checks the expiry, in seconds since the epoch. A number of more than ten digits is in milliseconds, or a mistake. A URL does not say when
 * it was signed: it is accepted from its longest lifetime before its end.
 */
function checkExpiry(expires: string, { now, allowedSkew, longestLifetime }: Timing): void {
  if (!/^\d{1,10}$/.test(expires)) {
    throw new S3Error('AccessDenied', { message: 'Invalid date (should be seconds since epoch): Expires' });
  }
  const end = Number(expires) * 1000;
  if (end > now + longestLifetime + allowedSkew) {
    const longest = Math.floor(longestLifetime / 1000);
    throw new S3Error('AccessDenied', { message: `Expires must be at most ${longest} seconds from now.` });
  }
  if (now <= end) return;
  throw new S3Error('AccessDenied', {
    message: 'Request has expired',
    details: { Expires: printTime(end), ServerTime: printTime(now) },
  });
}
