import { S3Error } from '../errors/s3-error.ts';
import type { Fields, RequestMessage } from '../http/message.ts';

/**
 * Request headers that ask for unsupported features. Ignoring one would break a promise to the client: the object would
 * not be encrypted with the key that it named.
 */
const headers: readonly { readonly prefix: string; readonly harmless?: ReadonlySet<string> }[] = [
  { prefix: 'x-amz-server-side-encryption-aws-kms-key-id' },
  { prefix: 'x-amz-server-side-encryption-context' },
  { prefix: 'x-amz-server-side-encryption-bucket-key-enabled', harmless: new Set(['false']) },
  { prefix: 'x-amz-write-offset-bytes' },
  { prefix: 'x-amz-mfa' },
];

/** Refuses requests with such headers. @throws S3Error NotImplemented that names the header */
export function refuseUnsupported(fields: Fields): void {
  for (const name of fields.names()) {
    if (!name.startsWith('x-amz-')) continue;
    const row = headers.find(({ prefix }) => name.startsWith(prefix));
    if (row && !row.harmless?.has(fields.get(name)!.toLowerCase())) throw unsupportedHeader(name);
  }
}

/** Creates a 501 error that names a header. */
export function unsupportedHeader(header: string): S3Error {
  return new S3Error('NotImplemented', {
    message: 'A header you provided implies functionality that is not implemented.',
    details: { Header: header },
  });
}

/**
 * Returns true for a request to S3 Control, a different API, which clients send to S3's endpoint if they have one endpoint for all services.
 * It would be treated as a request for a bucket `v20180820`, or one named after the account. It is refused with 405, after which Terraform's
 * AWS provider (6.29 and later) manages a bucket's tags by S3 instead: docs/adr/0070-no-s3-control.md.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_control_ListTagsForResource.html
 * https://github.com/hashicorp/terraform-provider-aws/pull/46122
 */
export function isS3Control({ target, fields }: Pick<RequestMessage, 'target' | 'fields'>): boolean {
  return target.startsWith('/v20180820/') && fields.has('x-amz-account-id');
}
