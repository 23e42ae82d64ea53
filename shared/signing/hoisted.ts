import { invalidArgument } from '../errors/s3-error.ts';
import { trimBlanks } from '../http/blanks.ts';
import { isFieldName } from '../http/field-syntax.ts';
import { Fields } from '../http/message.ts';
import type { Query } from '../http/query.ts';

/** Parameters that are of the signature itself, or speak of a body that a presigned URL cannot know. */
const ownParameters: ReadonlySet<string> = new Set([
  ...['x-amz-algorithm', 'x-amz-credential', 'x-amz-date', 'x-amz-expires', 'x-amz-signedheaders', 'x-amz-signature'],
  ...['x-amz-security-token', 'x-amz-content-sha256', 'x-amz-decoded-content-length', 'x-amz-trailer'],
  'x-amz-sdk-checksum-algorithm',
]);
const checksumPrefix = 'x-amz-checksum-';

// eslint-disable-next-line no-control-regex -- they would end the header that the value becomes
const control = /[\x00-\x1f\x7f]/;

/**
 * The fields of a request, and those that a presigned URL has in its query in their place: SDKs move every x-amz- header there
 * that they can, since whoever uses the URL would have to send it otherwise. The signature covers the query as well. A header
 * that was sent all the same counts, and is for authentication to accept or refuse.
 *
 * A name that no header can have is refused, and not only because no answer could send it back: in version 2, headers are signed as
 * lines of `name:value`, and a name with a colon or a line break in it would be signed like other headers than it is.
 *
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
 * @param query as its signature reads it: what a bare `+` means, only the signature tells
 * @throws S3Error InvalidArgument for a name or a value that no header can have
 */
export function withHoisted(fields: Fields, { parameters }: Query): Fields {
  if (!parameters.some(({ name }) => isSignature(name.toLowerCase()))) return fields;
  const hoisted = parameters.flatMap(({ name, value }): (readonly [string, string])[] => {
    const lower = name.toLowerCase();
    if (!lower.startsWith('x-amz-') || ownParameters.has(lower) || lower.startsWith(checksumPrefix)) return [];
    if (fields.has(lower)) return [];
    if (!isFieldName(name) || control.test(value)) throw invalidArgument(name, value);
    return [[lower, trimBlanks(Buffer.from(value).toString('latin1'))]];
  });
  return hoisted.length === 0 ? fields : new Fields([...fields, ...hoisted]);
}

function isSignature(lowerName: string): boolean {
  return lowerName === 'x-amz-signature' || lowerName === 'signature';
}
