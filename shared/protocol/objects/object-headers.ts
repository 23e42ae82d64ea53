import { printDigest } from '../../checksums/digest-value.ts';
import type { Checksum } from '../../checksums/algorithms.ts';
import { S3Error } from '../../errors/s3-error.ts';
import { formatHttpDate } from '../../http/fields/dates.ts';
import { isFieldName, isFieldValue } from '../../http/fields/field-syntax.ts';
import type { Query } from '../../http/query.ts';
import { etagOf, versionIdOf, type Version } from '../../storage/versions/versions.ts';
import type { ObjectAttributes } from '../../storage/versions/object-attributes.ts';

type Field = readonly [name: string, value: string];

/** Returns the response headers of GET and HEAD for a version, or for any part of it. */
export function objectFields(version: Version, { headers, metadata, tags }: ObjectAttributes): Field[] {
  const fields: Field[] = [
    ['last-modified', formatHttpDate(version.lastModified)],
    ['etag', `"${etagOf(version)}"`],
    ['accept-ranges', 'bytes'],
    ['content-type', version.contentType ?? 'binary/octet-stream'],
    ['x-amz-version-id', versionIdOf(version)],
    ['x-rgw-object-type', 'Normal'],
  ];
  const optional: readonly (readonly [string, string | undefined])[] = [
    ['cache-control', headers.cacheControl],
    ['content-disposition', headers.contentDisposition],
    ['content-encoding', headers.contentEncoding],
    ['content-language', headers.contentLanguage],
    ['expires', headers.expires],
    ['x-amz-website-redirect-location', headers.websiteRedirectLocation],
    ['x-amz-storage-class', version.storageClass],
    ['x-amz-tagging-count', tags.length > 0 ? String(tags.length) : undefined],
  ];
  for (const [name, value] of optional) if (value !== undefined) fields.push([name, value]);
  return [...fields, ...metadataFields(metadata)];
}

/** Returns the user metadata. Stored metadata that cannot be a header is counted in `x-amz-missing-meta`, as in S3. */
function metadataFields(metadata: ObjectAttributes['metadata']): Field[] {
  const entries = Object.entries(metadata);
  const fields = entries
    .filter(([name, value]) => isFieldName(name) && isFieldValue(value))
    .map(([name, value]): Field => [`x-amz-meta-${name}`, value]);
  const missing = entries.length - fields.length;
  return missing === 0 ? fields : [...fields, ['x-amz-missing-meta', String(missing)]];
}

/** Returns `x-amz-checksum-<algorithm>` and its type. A composite checksum ends with the number of its parts. */
export function checksumFields(checksum: Checksum | undefined, partCount?: number): Field[] {
  if (checksum === undefined) return [];
  const { algorithm, value, type } = checksum;
  const suffix = type === 'COMPOSITE' && partCount !== undefined ? `-${partCount}` : '';
  return [
    [`x-amz-checksum-${algorithm.toLowerCase()}`, printDigest(value) + suffix],
    ['x-amz-checksum-type', type],
  ];
}

/** The headers that a parameter replaces, by its name. */
const overridable: ReadonlyMap<string, string> = new Map(
  ['content-type', 'content-language', 'expires', 'cache-control', 'content-disposition', 'content-encoding'].map(
    (name) => [`response-${name}`, name],
  ),
);

/**
 * Reads the `response-*` parameters of a GET or HEAD, each of which replaces a header of a successful response.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
 *
 * @throws S3Error InvalidRequest for an unsigned request, or for control characters, which would let a link inject
 *   headers
 */
export function responseOverrides(query: Query, signed: boolean): ReadonlyMap<string, string> {
  const overrides = new Map<string, string>();
  for (const { name: parameter } of query.parameters) {
    const name = overridable.get(parameter);
    if (name === undefined || overrides.has(name)) continue;
    const value = query.get(parameter)!;
    if (!signed) {
      throw new S3Error('InvalidRequest', {
        message: 'Request specific response headers cannot be used for anonymous GET requests.',
      });
    }
    // eslint-disable-next-line no-control-regex -- matches control characters on purpose
    if (/[\u0000-\u001f\u007f]/.test(value)) {
      throw new S3Error('InvalidRequest', { message: `${parameter} must not contain control characters.` });
    }
    overrides.set(name, Buffer.from(value, 'utf8').toString('latin1'));
  }
  return overrides;
}

/** Returns the fields with some of them replaced or added. */
export function overridden(fields: readonly Field[], overrides: ReadonlyMap<string, string>): Field[] {
  if (overrides.size === 0) return [...fields];
  return [...fields.filter(([name]) => !overrides.has(name)), ...overrides];
}
