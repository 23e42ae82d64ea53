import { S3Error } from '../errors/s3-error.ts';
import { isFieldName } from '../http/fields/field-syntax.ts';
import type { Fields } from '../http/message.ts';
import type { QueryParameter } from '../http/query.ts';
import type { CredentialScope, MalformedCode } from './v4/credential-scope.ts';
import { printBasicTime, printTime } from './timestamp.ts';

/** A V4 signature and its parameters, from a header or the query. Well-formed but not verified. */
export interface SignatureClaim extends CredentialScope {
  readonly accessKeyId: string;
  /** yyyyMMdd'T'HHmmss'Z', as written in the string to sign. */
  readonly timestamp: string;
  /** In lower case, in the signed order. */
  readonly signedHeaders: readonly string[];
  /** Hexadecimal, as sent. */
  readonly signature: string;
  /** x-amz-content-sha256, as sent. */
  readonly payloadHash: string;
  /** The query parameter with the signature, which the signature does not cover. */
  readonly signatureParameter?: QueryParameter;
  /** The error code if this kind of claim is malformed. */
  readonly malformed: MalformedCode;
}

/** The current time and the limits for the time of a signature, in milliseconds. */
export interface Timing {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The maximum deviation of a client's clock. */
  readonly allowedSkew: number;
  /** The maximum lifetime of a presigned URL. */
  readonly longestLifetime: number;
}

/**
 * Checks the time of a signature.
 * @param time at which the request was signed, in milliseconds since the epoch
 * @throws S3Error RequestTimeTooSkewed if the time is too far in the past or the future
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
 * Returns the names in a SignedHeaders list. Each must be unique, because a header's value is signed once for each
 * occurrence of its name, and a short request would produce a long text.
 *
 * @throws S3Error `code`
 */
export function parseSignedHeaders(list: string, code: MalformedCode): readonly string[] {
  // Names are compared and signed in lower case; another case would allow two signatures.
  const names = list.split(';');
  const areNames = names.every((name) => isFieldName(name) && name === name.toLowerCase());
  if (areNames && new Set(names).size === names.length) return names;
  throw new S3Error(code, {
    message: 'SignedHeaders must be a list of unique lower-case header names, separated by semicolons.',
  });
}

/**
 * Headers with the prefix x-amz- that the service's own gateways add after the client has signed. No operation reads
 * them.
 */
export const gatewayHeaders: ReadonlySet<string> = new Set([
  'x-amz-cf-id',
  'x-amz-request-id',
  'x-amz-id-2',
  'x-amz-apigw-id',
]);

/**
 * Checks that a request signs its host and all its x-amz- headers. An unsigned header could have been added by anyone
 * who saw the request; an x-amz-copy-source, for example, turns an upload into a copy.
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

/** Checks that the credential is for the day of the signature. @throws S3Error with the claim's code */
export function checkCredentialDate({ date, timestamp, malformed }: SignatureClaim): void {
  if (timestamp.startsWith(date)) return;
  throw new S3Error(malformed, {
    message: `Invalid credential date "${date}". This date is not the same as X-Amz-Date: "${timestamp.slice(0, 8)}".`,
  });
}

/**
 * Checks the region of the claim. Clients follow the Region that the error names. @throws S3Error with the claim's code
 */
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
