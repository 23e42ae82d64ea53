import { S3Error } from '../errors/s3-error.ts';
import { isFieldName } from '../http/field-syntax.ts';
import type { Fields } from '../http/message.ts';
import type { QueryParameter } from '../http/query.ts';
import type { CredentialScope, MalformedCode } from './credential-scope.ts';
import { printBasicTime, printTime } from './timestamp.ts';

/** What a V4-signed request says of its signature, wherever it says it. Well formed, not yet verified. */
export interface SignatureClaim extends CredentialScope {
  readonly accessKeyId: string;
  /** yyyyMMdd'T'HHmmss'Z', as it stands in the string to sign. */
  readonly timestamp: string;
  /** Lower case, in the order that was signed. */
  readonly signedHeaders: readonly string[];
  /** Hexadecimal, as sent. */
  readonly signature: string;
  /** x-amz-content-sha256, as sent. */
  readonly payloadHash: string;
  /** The query parameter that holds the signature and is not covered by it. */
  readonly signatureParameter?: QueryParameter;
  /** The code of what is malformed in this form of claim. */
  readonly malformed: MalformedCode;
}

/** What the time of a signature is judged by, in milliseconds. */
export interface Timing {
  /** Since the epoch. */
  readonly now: number;
  /** How far the clock of a client may be off. */
  readonly allowedSkew: number;
  /** The longest that a presigned URL may be valid. */
  readonly longestLifetime: number;
}

/**
 * @param time at which a request was signed, in milliseconds since the epoch
 * @throws S3Error RequestTimeTooSkewed if that is too long before or after now
 */
export function checkSkew(time: number, { now, allowedSkew }: Timing): void {
  if (Math.abs(now - time) <= allowedSkew) return;
  throw new S3Error('RequestTimeTooSkewed', {
    details: {
      RequestTime: printBasicTime(time),
      ServerTime: printTime(now),
      MaxAllowedSkewMilliseconds: String(allowedSkew),
    },
  });
}

/**
 * The names of a SignedHeaders list. Each stands there once: the value of a header would be signed as often as its name is said, and
 * a short request would make a long text.
 *
 * @throws S3Error `code`
 */
export function parseSignedHeaders(list: string, code: MalformedCode): readonly string[] {
  // Names are compared and signed in lower case; another case could be signed in two ways.
  const names = list.split(';');
  const areNames = names.every((name) => isFieldName(name) && name === name.toLowerCase());
  if (areNames && new Set(names).size === names.length) return names;
  throw new S3Error(code, {
    message: 'SignedHeaders is not a list of lower-case header names, each once, separated by semicolons.',
  });
}

/** Begin with x-amz- and come from the service's own gateways, after the client signed. No operation reads them. */
export const gatewayHeaders: ReadonlySet<string> = new Set([
  'x-amz-cf-id',
  'x-amz-request-id',
  'x-amz-id-2',
  'x-amz-apigw-id',
]);

/**
 * Holds a request to signing its host and everything it says in x-amz- headers. A header that is not signed could have
 * been added by anybody who saw the request: an x-amz-copy-source turns an upload into a copy.
 *
 * @throws S3Error AccessDenied
 */
export function refuseUnsignedHeaders({ signedHeaders }: SignatureClaim, fields: Fields): void {
  const signed = new Set(signedHeaders);
  const unsigned = signed.has('host') ? [] : ['host'];
  for (const name of fields.names()) {
    if (name.startsWith('x-amz-') && !gatewayHeaders.has(name) && !signed.has(name)) unsigned.push(name);
  }
  if (unsigned.length === 0) return;
  throw new S3Error('AccessDenied', {
    message: 'There were headers present in the request which were not signed',
    details: { HeadersNotSigned: unsigned.join(', ') },
  });
}

/** @throws S3Error of the claim if its credential was made for another day than it was used on */
export function checkCredentialDate({ date, timestamp, malformed }: SignatureClaim): void {
  if (timestamp.startsWith(date)) return;
  throw new S3Error(malformed, {
    message: `Invalid credential date "${date}". This date is not the same as X-Amz-Date: "${timestamp.slice(0, 8)}".`,
  });
}

/** @throws S3Error of the claim if it was made for another region; clients follow the Region it names */
export function checkRegion(
  { region, malformed }: Pick<SignatureClaim, 'region' | 'malformed'>,
  expected: string,
): void {
  if (region === expected) return;
  throw new S3Error(malformed, {
    message: `The region '${region}' is wrong; expecting '${expected}'`,
    details: { Region: expected },
  });
}
