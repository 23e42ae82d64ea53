import { S3Error } from '../errors/s3-error.ts';

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
