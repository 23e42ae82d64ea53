import { parseAclHeaders, type AskedAcl } from '../../access/acl-headers.ts';
import { invalidArgument, S3Error } from '../../errors/s3-error.ts';
import { trimBlanks } from '../../http/blanks.ts';
import { isFieldName, isFieldValue } from '../../http/field-syntax.ts';
import type { Fields } from '../../http/message.ts';
import { storageClassOf, type StorageClass } from '../../metadata/objects/storage-class.ts';
import type { ContentHeaders, ObjectAttributes } from '../../metadata/objects/object-attributes.ts';
import type { SystemMetadata } from '../../metadata/objects/versions.ts';
import { tagLimits, type Limits } from '../limits.ts';
import { parseTaggingHeader } from './tagging-header.ts';

/** The headers of an upload that describe the object. */
export interface UploadHeaders {
  readonly systemMetadata: SystemMetadata;
  readonly storageClass: StorageClass;
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
 *   InvalidRedirectLocation, and as parseAclHeaders does
 */
export function readUploadHeaders(fields: Fields, limits: Limits): UploadHeaders {
  return {
    systemMetadata: { contentType: fields.get('content-type') || undefined },
    storageClass: readStorageClass(fields),
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
