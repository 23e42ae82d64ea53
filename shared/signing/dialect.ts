import { S3Error } from '../errors/s3-error.ts';

/**
 * The words of a V4 signature. There are two spellings of them, Amazon's and a neutral one; a request keeps to one, and
 * every HMAC is made with the words its client used.
 */
export interface Dialect {
  /** First word of the Authorization header and of the string to sign. */
  readonly algorithm: string;
  /** Stands before the secret in the first HMAC key. */
  readonly keyPrefix: string;
  readonly service: string;
  /** Last piece of a credential scope. */
  readonly terminator: string;
}

const dialects: readonly Dialect[] = [
  { algorithm: 'AWS4-HMAC-SHA256', keyPrefix: 'AWS4', service: 's3', terminator: 'aws4_request' },
  { algorithm: 'SVC4-HMAC-SHA256', keyPrefix: 'SVC4', service: 'svc', terminator: 'svc4_request' },
];

/** The dialect whose algorithm has this name. */
export function dialectOf(algorithm: string): Dialect | undefined {
  return dialects.find((dialect) => dialect.algorithm === algorithm);
}

/**
 * Refuses signatures of public keys, which are known and not supported.
 * @throws S3Error NotImplemented
 */
export function refuseAsymmetric(algorithm: string, message = `${algorithm} is not implemented.`): void {
  if (!/^(?:AWS4|SVC4)-ECDSA-P256-SHA256$/.test(algorithm)) return;
  throw new S3Error('NotImplemented', { message });
}
