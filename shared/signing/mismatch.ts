import { S3Error } from '../errors/s3-error.ts';

/** A signature that does not match, and the texts that the server computed for comparison. */
export interface Mismatch {
  readonly accessKeyId: string;
  /** As sent. */
  readonly signature: string;
  readonly stringToSign: string;
  /** The canonical request, in version 4 only. */
  readonly canonical?: string;
}

/**
 * Creates the error for a signature that does not match. It shows the texts to sign so that the client can be
 * corrected; all of their contents came with the request.
 */
export function signatureDoesNotMatch({ accessKeyId, signature, stringToSign, canonical }: Mismatch): S3Error {
  return new S3Error('SignatureDoesNotMatch', {
    details: {
      AWSAccessKeyId: accessKeyId,
      StringToSign: withoutSecrets(stringToSign),
      SignatureProvided: signature,
      ...(canonical !== undefined && { CanonicalRequest: withoutSecrets(canonical) }),
    },
  });
}

/** Removes customer encryption keys and session tokens, because an error body may end up in a log. */
function withoutSecrets(canonical: string): string {
  const names = /(x-amz-(?:(?:copy-source-)?server-side-encryption-customer-key|security-token)[:=])[^\n&]*/gi;
  return canonical.replace(names, '$1…');
}
