import { S3Error } from '../../errors/s3-error.ts';

/**
 * The terms of a V4 signature. There are two sets, Amazon's and a vendor-neutral one; a request must use one of them
 * throughout, and every HMAC is computed with the terms that its client used.
 */
export interface Dialect {
  /** The first word of the Authorization header and of the string to sign. */
  readonly algorithm: string;
  /** The prefix of the secret in the first HMAC key. */
  readonly keyPrefix: string;
  readonly service: string;
  /** The last part of a credential scope. */
  readonly terminator: string;
}

const dialects: readonly Dialect[] = [
  { algorithm: 'AWS4-HMAC-SHA256', keyPrefix: 'AWS4', service: 's3', terminator: 'aws4_request' },
  { algorithm: 'SVC4-HMAC-SHA256', keyPrefix: 'SVC4', service: 'svc', terminator: 'svc4_request' },
];

/** Returns the dialect with this algorithm, or undefined. */
export function dialectOf(algorithm: string): Dialect | undefined {
  return dialects.find((dialect) => dialect.algorithm === algorithm);
}

/**
 * Rejects asymmetric signatures, which are recognised but not supported.
 * @throws S3Error NotImplemented
 */
export function refuseAsymmetric(algorithm: string, message = `${algorithm} is not implemented.`): void {
  if (!/^(?:AWS4|SVC4)-ECDSA-P256-SHA256$/.test(algorithm)) return;
  throw new S3Error('NotImplemented', { message });
}

/** The error codes for a malformed signature in the header, the query and a form, in this order. */
export type MalformedCode = 'AuthorizationHeaderMalformed' | 'AuthorizationQueryParametersError' | 'InvalidArgument';

/** The parameters from which a signing key is derived, besides the secret. */
export interface CredentialScope {
  readonly dialect: Dialect;
  /** yyyymmdd */
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

/** Returns the scope as text: `20130524/us-east-1/s3/aws4_request`. */
export function printScope({ date, region, service, dialect }: CredentialScope): string {
  return `${date}/${region}/${service}/${dialect.terminator}`;
}

/**
 * Parses `<access key id>/<date>/<region>/<service>/<terminator>` from the right, since a key id may contain slashes.
 *
 * @param expected the service that the request is for. Default: the dialect's
 * @throws S3Error `code`
 */
export function parseCredential(
  credential: string,
  dialect: Dialect,
  code: MalformedCode,
  expected: string = dialect.service,
): CredentialScope & { readonly accessKeyId: string } {
  const pieces = credential.split('/');
  const [date = '', region = '', service = '', terminator] = pieces.slice(-4);
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
  if (service !== expected) {
    throw new S3Error(code, { message: `The service in the Credential is wrong; expecting "${expected}".` });
  }
  if (terminator !== dialect.terminator) {
    throw new S3Error(code, {
      message: `The terminator in the Credential is wrong; expecting "${dialect.terminator}".`,
    });
  }
  return { accessKeyId, date, region, service, dialect };
}
