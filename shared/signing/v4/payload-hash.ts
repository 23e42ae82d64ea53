import { invalidArgument, S3Error } from '../../errors/s3-error.ts';
import { refuseAsymmetric, type Dialect } from './credential-scope.ts';

/** The meaning of an x-amz-content-sha256 header. */
export type PayloadHash =
  /** SHA-256 of the body as sent, 64 lower-case hexadecimal digits. */
  | { readonly kind: 'digest'; readonly sha256: string }
  | { readonly kind: 'unsigned' }
  /** aws-chunked framing. `signed`: each chunk is signed; `trailers`: trailers follow the last chunk. */
  | { readonly kind: 'chunks'; readonly signed: boolean; readonly trailers: boolean };

/**
 * Parses x-amz-content-sha256 in the terms of the request's dialect, which is undefined for an unsigned request.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 *
 * @throws S3Error InvalidArgument, InvalidRequest (signed chunks without a seed signature), NotImplemented
 */
export function parsePayloadHash(value: string, dialect: Dialect | undefined): PayloadHash {
  if (/^[0-9A-Fa-f]{64}$/.test(value)) return { kind: 'digest', sha256: value.toLowerCase() };
  if (value === 'UNSIGNED-PAYLOAD') return { kind: 'unsigned' };
  if (value === 'STREAMING-UNSIGNED-PAYLOAD-TRAILER') return { kind: 'chunks', signed: false, trailers: true };

  const [, algorithm = '', trailer] = /^STREAMING-(.+)-PAYLOAD(-TRAILER)?$/.exec(value) ?? [];
  refuseAsymmetric(algorithm, `${value} is not implemented.`);
  if (algorithm !== '' && !dialect) {
    throw new S3Error('InvalidRequest', { message: `x-amz-content-sha256: ${value} needs a V4-signed request.` });
  }
  if (algorithm === dialect?.algorithm) return { kind: 'chunks', signed: true, trailers: trailer !== undefined };
  throw invalidArgument(
    'x-amz-content-sha256',
    value,
    'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, ' +
      'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER or a valid sha256 value.',
  );
}
