import { invalidArgument } from '../../errors/s3-error.ts';
import { isFieldName, trimBlanks } from '../../http/fields/field-syntax.ts';
import { Fields } from '../../http/message.ts';
import type { Query } from '../../http/query.ts';

/** Parameters that belong to the signature itself, or describe a body that a presigned URL cannot know. */
const ownParameters: ReadonlySet<string> = new Set([
  ...['x-amz-algorithm', 'x-amz-credential', 'x-amz-date', 'x-amz-expires', 'x-amz-signedheaders', 'x-amz-signature'],
  ...['x-amz-content-sha256', 'x-amz-decoded-content-length', 'x-amz-trailer'],
  'x-amz-sdk-checksum-algorithm',
]);
const checksumPrefix = 'x-amz-checksum-';

// eslint-disable-next-line no-control-regex -- they would end the header that the value becomes part of
const control = /[\x00-\x1f\x7f]/;

/**
 * Returns the fields of a request together with those that a presigned URL carries in its query instead: SDKs move
 * every possible x-amz- header there, because users of the URL would otherwise have to send it. The signature covers
 * the query as well. A header that was also sent takes precedence, and authentication accepts or rejects it.
 *
 * Rejects names that no header can have: responses could not echo them, and in version 2, where headers are signed as
 * lines of `name:value`, a name with a colon or a line break would be signed as other headers.
 *
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
 * @param query in the reading that its signature confirms: only the signature tells the meaning of a bare `+`
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
