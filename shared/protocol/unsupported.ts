import { S3Error } from '../errors/s3-error.ts';
import type { Fields } from '../http/message.ts';

/**
 * Request headers that ask for unsupported features. Ignoring one would break a promise to the client: the object would
 * not be locked, or not be encrypted with the key that it named.
 */
const headers: readonly { readonly prefix: string; readonly harmless?: ReadonlySet<string> }[] = [
  { prefix: 'x-amz-server-side-encryption-aws-kms-key-id' },
  { prefix: 'x-amz-server-side-encryption-context' },
  { prefix: 'x-amz-server-side-encryption-bucket-key-enabled', harmless: new Set(['false']) },
  { prefix: 'x-amz-object-lock-' },
  { prefix: 'x-amz-bucket-object-lock-enabled', harmless: new Set(['false']) },
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
