import { S3Error } from '../errors/s3-error.ts';
import type { Dialect } from './dialect.ts';

/** The error codes for a malformed signature in the header, the query and a form, in this order. */
export type MalformedCode = 'AuthorizationHeaderMalformed' | 'AuthorizationQueryParametersError' | 'InvalidArgument';

/** The parameters from which a signing key is derived, besides the secret. */
export interface CredentialScope {
  readonly dialect: Dialect;
  /** yyyymmdd */
  readonly date: string;
  readonly region: string;
}

/** Returns the scope as text: `20130524/us-east-1/s3/aws4_request`. */
export function printScope({ date, region, dialect }: CredentialScope): string {
  return `${date}/${region}/${dialect.service}/${dialect.terminator}`;
}

/**
 * Parses `<access key id>/<date>/<region>/<service>/<terminator>` from the right, since a key id may contain slashes.
 *
 * @throws S3Error `code`
 */
export function parseCredential(
  credential: string,
  dialect: Dialect,
  code: MalformedCode,
): CredentialScope & { readonly accessKeyId: string } {
  const pieces = credential.split('/');
  const [date = '', region = '', service, terminator] = pieces.slice(-4);
  const accessKeyId = pieces.slice(0, -4).join('/');
  if (accessKeyId === '') {
    throw new S3Error(code, {
      message: 'The Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/TERMINATOR".',
    });
  }
  if (!/^\d{8}$/.test(date)) {
    throw new S3Error(code, { message: 'The date in the Credential must have the form YYYYMMDD.' });
  }
  // Text to be hashed must be the same bytes in every encoding.
  if (!/^[\x21-\x7e]*$/.test(region))
    throw new S3Error(code, { message: 'The region in the Credential is not valid.' });
  if (service !== dialect.service) {
    throw new S3Error(code, { message: `The service in the Credential is wrong; expecting "${dialect.service}".` });
  }
  if (terminator !== dialect.terminator) {
    throw new S3Error(code, {
      message: `The terminator in the Credential is wrong; expecting "${dialect.terminator}".`,
    });
  }
  return { accessKeyId, date, region, dialect };
}
