import { S3Error } from '../errors/s3-error.ts';

/** A signature that does not hold, and what the server signed in the place of the client. */
export interface Mismatch {
  readonly accessKeyId: string;
  /** As sent. */
  readonly signature: string;
  readonly stringToSign: string;
  /** The canonical request, in version 4. */
  readonly canonical?: string;
}

/**
 * The error of a signature that does not hold. It shows what was signed, so that a client can be mended; all of it came with
 * the request.
 */
export function signatureDoesNotMatch({ accessKeyId, signature, stringToSign, canonical }: Mismatch): S3Error {
  return new S3Error('SignatureDoesNotMatch', {
    details: {
      AWSAccessKeyId: accessKeyId,
      StringToSign: withoutCustomerKeys(stringToSign),
      SignatureProvided: signature,
      ...(canonical !== undefined && { CanonicalRequest: withoutCustomerKeys(canonical) }),
    },
  });
}

/** An error body may end in a log; the keys that customers encrypt with must not. */
function withoutCustomerKeys(canonical: string): string {
  return canonical.replace(/(x-amz-[a-z-]{0,64}customer-key[:=])[^\n&]*/gi, '$1…');
}
