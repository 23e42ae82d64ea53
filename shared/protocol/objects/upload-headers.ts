import { parseAclHeaders, type AskedAcl } from '../../access/acl-headers.ts';
import { invalidArgument, S3Error } from '../../errors/s3-error.ts';
import { isFieldName, isFieldValue, trimBlanks } from '../../http/fields/field-syntax.ts';
import { type Fields, utf8Of } from '../../http/message.ts';
import { storageClassOf, type StorageClass } from '../../storage/versions/stored-values.ts';
import type { ContentHeaders, ObjectAttributes } from '../../storage/versions/object-attributes.ts';
import type { SystemMetadata } from '../../storage/versions/versions.ts';
import type { ObjectLock } from '../../storage/versions/object-lock.ts';
import { tagLimits, type Limits } from '../limits.ts';
import { readLockHeaders } from './object-lock.ts';
import { Query } from '../../http/query.ts';
import { checkTags, type TagLimits } from '../tags.ts';

/** The headers of an upload that describe the object. */
export interface UploadHeaders {
  readonly systemMetadata: SystemMetadata;
  readonly storageClass: StorageClass;
  /** The retention and the legal hold that it asks for. */
  readonly lock: ObjectLock;
  readonly headers: ObjectAttributes['headers'];
  readonly metadata: ObjectAttributes['metadata'];
  readonly tags: ObjectAttributes['tags'];
  /** The requested ACL. Undefined: private. */
  readonly acl: AskedAcl | undefined;
}

const metadataPrefix = 'x-amz-meta-';

/**
 * Reads the headers that are stored with an object and returned by GET and HEAD: content headers as sent, and user
 * metadata.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html
 *
 * @throws S3Error MetadataTooLarge, InvalidArgument (metadata that no header can hold), InvalidStorageClass,
 *   InvalidRedirectLocation, and as readLockHeaders and parseAclHeaders do
 */
export function readUploadHeaders(fields: Fields, limits: Limits): UploadHeaders {
  return {
    systemMetadata: { contentType: fields.get('content-type') || undefined },
    storageClass: readStorageClass(fields),
    lock: readLockHeaders(fields),
    headers: present({
      cacheControl: fields.get('cache-control'),
      contentDisposition: fields.get('content-disposition'),
      contentEncoding: storedEncoding(fields.get('content-encoding')),
      contentLanguage: fields.get('content-language'),
      expires: fields.get('expires'),
      websiteRedirectLocation: redirectLocation(fields.get('x-amz-website-redirect-location')),
    }),
    metadata: readMetadata(fields, limits.userMetadataBytes),
    tags: parseTaggingHeader(fields.get('x-amz-tagging'), tagLimits(limits, 'tagsPerObject')),
    acl: parseAclHeaders(fields),
  };
}

function readStorageClass(fields: Fields): StorageClass {
  const name = fields.get('x-amz-storage-class') ?? 'STANDARD';
  const storageClass = storageClassOf(name);
  if (storageClass !== undefined) return storageClass;
  throw new S3Error('InvalidStorageClass', { details: { StorageClassRequested: name } });
}

function present(
  headers: Record<keyof ObjectAttributes['headers'], string | undefined>,
): Omit<ContentHeaders, 'contentType'> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
}

/**
 * Removes `aws-chunked`, which is the framing of the request, not an encoding of the content. Keeps the rest as
 * written.
 */
function storedEncoding(value: string | undefined): string | undefined {
  const kept = value
    ?.split(',')
    .filter((token) => !['', 'aws-chunked'].includes(token.trim().toLowerCase()))
    .join(',')
    .trim();
  return kept || undefined;
}

function redirectLocation(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  // Rejects control characters on purpose: the value becomes a header.
  // eslint-disable-next-line no-control-regex
  const isFine = /^(?:\/|https?:\/\/)[^\u0000-\u001f\u007f]*$/.test(value) && value.length <= 2048;
  if (!isFine) throw new S3Error('InvalidRedirectLocation');
  return value;
}

/** Reads user metadata. The limit counts the bytes of names and values, without the prefix. */
function readMetadata(fields: Fields, maximum: number): Record<string, string> {
  const metadata: Record<string, string> = {};
  let size = 0;
  for (const name of fields.names()) {
    if (!name.startsWith(metadataPrefix) || name === metadataPrefix) continue;
    const short = name.slice(metadataPrefix.length);
    const value = fields.all(name).map(trimBlanks).join(',');
    // Metadata must be valid in response headers, however it was sent.
    if (!isFieldName(name) || !isFieldValue(value)) throw invalidArgument(name, value);
    size += short.length + value.length;
    Object.defineProperty(metadata, short, { value, enumerable: true });
  }
  if (size > maximum) {
    throw new S3Error('MetadataTooLarge', { details: { Size: String(size), MaxSizeAllowed: String(maximum) } });
  }
  return metadata;
}

/**
 * Reads x-amz-tagging: `k1=v1&k2=v2` in form encoding.
 * @throws S3Error InvalidTag, InvalidArgument
 */
export function parseTaggingHeader(
  value: string | undefined,
  limits: TagLimits,
): readonly (readonly [key: string, value: string])[] {
  if (value === undefined || value === '') return [];
  const tags = parse(value).parameters.map(({ name, value: text }) => ({ key: name, value: text }));
  checkTags(tags, limits);
  return tags.map(({ key, value: text }) => [key, text] as const);
}

function parse(value: string): Query {
  try {
    return Query.parse(utf8Of(value));
  } catch (cause) {
    throw new S3Error('InvalidArgument', {
      message:
        'The header x-amz-tagging shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.',
      details: { ArgumentName: 'x-amz-tagging', ArgumentValue: value },
      cause,
    });
  }
}
