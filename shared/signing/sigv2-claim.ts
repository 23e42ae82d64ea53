import { invalidArgument, S3Error } from '../errors/s3-error.ts';
import { parseHttpDate } from '../http/dates.ts';
import type { Fields } from '../http/message.ts';
import type { Query, QueryParameter } from '../http/query.ts';
import { checkSkew, type Timing } from './claim.ts';
import { firstWord } from './scheme.ts';
import { parseBasicTime, printTime } from './timestamp.ts';

/** What a request signed by version 2 says of its signature, wherever it says it. Well formed, not yet verified. */
export interface V2Claim {
  readonly accessKeyId: string;
  /** Base64, as sent. */
  readonly signature: string;
  /** What stands in the line of the date in the string to sign. */
  readonly dateLine: string;
}

/**
 * Reads `Authorization: AWS <key id>:<signature>`, in which the word may also be `SVC`, or missing, and the date that goes
 * with it. `x-amz-date` takes the place of `Date`, whose line in the string to sign is empty then.
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

/** Clients write the date of HTTP; some put the form of version 4 into x-amz-date. */
function parseTime(text: string): number | undefined {
  const time = parseHttpDate(text) ?? parseBasicTime(text);
  return time !== undefined && time >= 0 ? time : undefined;
}

const keyIdNames: readonly string[] = ['awsaccesskeyid', 'svcaccesskeyid'];

/**
 * Reads the parameters AWSAccessKeyId (or SVCAccessKeyId), Expires and Signature of a presigned URL, whose names are found
 * without regard to case. The time of expiry stands in the line of the date.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html#RESTAuthenticationQueryStringAuth
 *
 * @throws S3Error AccessDenied (incomplete, no time, expired), InvalidArgument (two access keys)
 */
export function readV2Query(query: Query, { now }: Pick<Timing, 'now'>): V2Claim {
  const named = (...names: readonly string[]): readonly QueryParameter[] =>
    query.parameters.filter(({ name }) => names.includes(name.toLowerCase()));
  const keyIds = named(...keyIdNames);
  if (keyIds.length > 1) throw invalidArgument(keyIds[1]!.name, keyIds[1]!.value, 'The URL names two access keys.');
  const [accessKeyId, expires, signature] = [keyIds, named('expires'), named('signature')].map(onlyValue);
  if (!accessKeyId || !expires || !signature) {
    throw new S3Error('AccessDenied', {
      message: 'Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters, each once.',
    });
  }
  checkExpiry(expires, now);
  // There are no blanks in base64, and some clients send its plus bare.
  return { accessKeyId, signature: signature.replaceAll(' ', '+'), dateLine: expires };
}

function onlyValue(parameters: readonly QueryParameter[]): string | undefined {
  return parameters.length === 1 ? parameters[0]!.value : undefined;
}

/** Seconds since the epoch. More than ten digits are milliseconds, or a mistake. */
function checkExpiry(expires: string, now: number): void {
  if (!/^\d{1,10}$/.test(expires)) {
    throw new S3Error('AccessDenied', { message: 'Invalid date (should be seconds since epoch): Expires' });
  }
  const end = Number(expires) * 1000;
  if (now <= end) return;
  throw new S3Error('AccessDenied', {
    message: 'Request has expired',
    details: { Expires: printTime(end), ServerTime: printTime(now) },
  });
}
