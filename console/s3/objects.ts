import { uriEncode } from './address.ts';
import type { S3Client, S3Request } from './client.ts';
import { S3Failure } from './failure.ts';
import { decodeMetadata, encodeMetadata, fromHeader } from './header-text.ts';
import { lockOf, type ObjectLock } from './object-lock.ts';
import { getTags } from './tags.ts';
import { writeXml } from './xml.ts';
import { copyPartResult } from '../../shared/documents/copy.ts';
import { deleteResult, deletions } from '../../shared/documents/delete-objects.ts';
import { completedParts, initiateMultipartUploadResult } from '../../shared/documents/multipart.ts';
import type { ValueOf } from '../../shared/documents/schema.ts';

/** The headers of an object that its owner sets, besides metadata. */
export const standardHeaders = [
  'content-type',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'expires',
] as const;

/** The attributes of an object that HeadObject returns. */
export interface ObjectHead {
  readonly size: number;
  readonly modified: Date;
  readonly etag: string;
  readonly versionId: string;
  readonly storageClass: string;
  /** `AES256` if the service encrypts it, `SSE-C` for a customer-provided key, otherwise empty. */
  readonly encryption: string;
  readonly headers: Readonly<Record<string, string>>;
  /** User metadata, without the prefix `x-amz-meta-`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Checksums by algorithm. */
  readonly checksums: Readonly<Record<string, string>>;
  readonly expiration: string;
  readonly lock: ObjectLock;
}

const metaPrefix = 'x-amz-meta-';
const checksumPrefix = 'x-amz-checksum-';

export async function headObject(
  client: S3Client,
  bucket: string,
  key: string,
  versionId?: string,
  signal?: AbortSignal,
): Promise<ObjectHead> {
  const { headers } = await client.send({
    method: 'HEAD',
    bucket,
    key,
    query: { versionId },
    headers: { 'x-amz-checksum-mode': 'ENABLED' },
    signal,
  });
  const all: readonly (readonly [string, string])[] = [...headers];
  const below = (prefix: string): Record<string, string> =>
    Object.fromEntries(
      all.filter(([name]) => name.startsWith(prefix)).map(([name, value]) => [name.slice(prefix.length), value]),
    );
  const checksums = below(checksumPrefix);
  delete checksums['type'];
  const own = headers.get('x-amz-server-side-encryption-customer-algorithm') !== null;
  return {
    size: Number(headers.get('content-length') ?? 0),
    modified: new Date(headers.get('last-modified') ?? NaN),
    etag: (headers.get('etag') ?? '').replaceAll('"', ''),
    versionId: headers.get('x-amz-version-id') ?? 'null',
    storageClass: headers.get('x-amz-storage-class') ?? 'STANDARD',
    encryption: own ? 'SSE-C' : (headers.get('x-amz-server-side-encryption') ?? ''),
    headers: Object.fromEntries(
      standardHeaders
        .map((name) => [name, fromHeader(headers.get(name) ?? '')] as const)
        .filter(([, value]) => value !== ''),
    ),
    metadata: Object.fromEntries(
      Object.entries(below(metaPrefix)).map(([name, value]) => [name, decodeMetadata(value)] as const),
    ),
    checksums,
    expiration: headers.get('x-amz-expiration') ?? '',
    lock: lockOf(headers),
  };
}

/** Reads an object, or its beginning. */
export async function getObject(
  client: S3Client,
  bucket: string,
  key: string,
  options: { readonly versionId?: string | undefined; readonly end?: number; readonly signal?: AbortSignal } = {},
): Promise<Response> {
  const headers = options.end === undefined ? {} : { range: `bytes=0-${options.end}` };
  return client.send({
    method: 'GET',
    bucket,
    key,
    query: { versionId: options.versionId },
    headers,
    signal: options.signal,
  });
}

/** Creates a folder: an empty object whose name ends in `/`. */
export async function createFolder(client: S3Client, bucket: string, key: string): Promise<void> {
  const headers = { 'content-type': 'application/x-directory', 'if-none-match': '*' };
  await client.send({ method: 'PUT', bucket, key, headers });
}

export async function deleteObject(client: S3Client, bucket: string, doomed: Doomed): Promise<void> {
  // With a document, which can contain any name.
  const { undeleted } = await deleteObjects(client, bucket, [doomed]);
  if (undeleted[0] !== undefined) throw new DeletionFailed(undeleted[0]);
}

export interface Doomed {
  readonly key: string;
  readonly versionId?: string;
  /** Deletes the object only if it still has this ETag. What has been deleted gets no second delete marker then. */
  readonly etag?: string;
}

/** A delete marker. */
export type Marker = Required<Pick<Doomed, 'key' | 'versionId'>>;

export interface Undeleted {
  readonly key: string;
  readonly versionId?: string | undefined;
  readonly code: string;
  readonly message: string;
}

export class DeletionFailed extends Error {
  readonly undeleted: Undeleted;
  constructor(undeleted: Undeleted) {
    super(undeleted.message);
    this.undeleted = undeleted;
  }
}

export interface Deletion {
  /** The keys that were not deleted, with the reasons. */
  readonly undeleted: readonly Undeleted[];
  /** The delete markers that were created. Removing them undoes the deletion. */
  readonly markers: readonly Marker[];
}

/** Deletes up to 1,000 objects or versions. */
export async function deleteObjects(client: S3Client, bucket: string, doomed: readonly Doomed[]): Promise<Deletion> {
  const body = writeXml(deletions, { objects: doomed });
  const once = doomed.some(({ versionId, etag }) => versionId === undefined && etag === undefined);
  const outcomes = deleteResult.content.read(
    await client.document({ method: 'POST', bucket, query: { delete: '' }, body, once }),
  );
  const undeleted = outcomes.filter((each) => 'code' in each);
  const markers = outcomes.flatMap((each) =>
    'code' in each || !each.deleteMarkerVersionId || each.versionId !== undefined
      ? []
      : { key: each.key, versionId: each.deleteMarkerVersionId },
  );
  return { undeleted, markers };
}

export interface Place {
  readonly bucket: string;
  readonly key: string;
  readonly versionId?: string | undefined;
}

/** The largest object that one CopyObject copies, in bytes. */
export const maxCopied = 5 * 1024 ** 3;

const sourceOf = ({ bucket, key, versionId }: Place): string =>
  `/${uriEncode(bucket)}/${key.split('/').map(uriEncode).join('/')}${versionId === undefined ? '' : `?versionId=${uriEncode(versionId)}`}`;

/**
 * Copies an object inside the service, by parts if it is larger than {@link maxCopied}. No bytes reach the browser.
 *
 * @param options.stored the encryption and storage class of the copy; undefined: the defaults of the destination
 * @param options.signal cancels a copy by parts; a single request is completed
 */
export async function copyObject(
  client: S3Client,
  from: Place,
  to: Place,
  options: {
    readonly size: number;
    readonly ifAbsent?: boolean;
    readonly stored?: Stored;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<void> {
  if (options.size > maxCopied) return copyByParts(client, from, to, options);
  const headers = {
    'x-amz-copy-source': sourceOf(from),
    ...(options.stored && storedHeaders(options.stored)),
    ...(options.ifAbsent && { 'if-none-match': '*' }),
  };
  const { bucket, key } = to;
  await client.document({ method: 'PUT', bucket, key, headers });
}

/** The attributes that CopyObject does not take from its source: encryption by the service, and the storage class. */
export type Stored = Pick<ObjectHead, 'encryption' | 'storageClass'>;

const storedHeaders = ({ encryption, storageClass }: Stored): Record<string, string> => ({
  ...(encryption === 'AES256' && { 'x-amz-server-side-encryption': encryption }),
  ...(storageClass !== 'STANDARD' && { 'x-amz-storage-class': storageClass }),
});

/** The attributes of the source that a copy by parts needs. */
type Source = Stored & Pick<ObjectHead, 'etag' | 'headers' | 'metadata'>;

interface PartsCopy {
  readonly size: number;
  readonly ifAbsent?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** The source, with the headers and metadata that the copy shall have; undefined: as the service has it. */
  readonly source?: Source;
}

async function copyByParts(
  client: S3Client,
  from: Place,
  to: Place,
  { size, ifAbsent, signal, source }: PartsCopy,
): Promise<void> {
  const head = source ?? (await headObject(client, from.bucket, from.key, from.versionId));
  const { bucket, key } = to;
  const tags = await getTags(client, from);
  const created = await client.document({
    method: 'POST',
    bucket,
    key,
    query: { uploads: '' },
    headers: {
      ...head.headers,
      ...metadataHeaders(head.metadata),
      ...storedHeaders(head),
      ...(tags.length > 0 && {
        'x-amz-tagging': tags.map((tag) => `${uriEncode(tag.key)}=${uriEncode(tag.value)}`).join('&'),
      }),
    },
  });
  const { uploadId } = initiateMultipartUploadResult.content.read(created);
  try {
    const parts: ValueOf<typeof completedParts>[number][] = [];
    for (let start = 0, number = 1; start < size; start += maxCopied, number++) {
      const end = Math.min(start + maxCopied, size) - 1;
      const copied = await client.document({
        method: 'PUT',
        bucket,
        key,
        query: { uploadId, partNumber: String(number) },
        headers: {
          'x-amz-copy-source': sourceOf(from),
          'x-amz-copy-source-range': `bytes=${start}-${end}`,
          // All parts must come from the same version, even if the object is replaced in the meantime.
          'x-amz-copy-source-if-match': `"${head.etag}"`,
        },
        signal,
      });
      parts.push({ partNumber: number, etag: copyPartResult.content.read(copied).etag, checksums: [] });
    }
    const body = writeXml(completedParts, parts);
    await client.document({
      method: 'POST',
      bucket,
      key,
      query: { uploadId },
      body,
      headers: ifAbsent ? { 'if-none-match': '*' } : {},
    });
  } catch (error) {
    await client.send({ method: 'DELETE', bucket, key, query: { uploadId } }).catch(() => undefined);
    throw error;
  }
}

/** Returns the request that renames an object within its bucket. */
export const requestToRename = (bucket: string, from: string, to: string): S3Request => ({
  method: 'PUT',
  bucket,
  key: to,
  query: { renameObject: '' },
  headers: { 'x-amz-rename-source': sourceOf({ bucket, key: from }) },
  once: true,
});

/**
 * Renames an object of any size within its bucket, in one request; readers see one of the two names.
 *
 * @param options.token makes it safe to rename once more where the answer was lost: the service knows what it has renamed
 */
export async function renameObject(
  client: S3Client,
  bucket: string,
  from: string,
  to: string,
  options: { readonly ifAbsent: boolean; readonly token: string },
): Promise<void> {
  const request = requestToRename(bucket, from, to);
  const headers = {
    ...request.headers,
    'x-amz-client-token': options.token,
    ...(options.ifAbsent && { 'if-none-match': '*' }),
  };
  await client.send({ ...request, headers, once: false });
}

/**
 * Replaces headers and metadata of an object by copying it onto itself, by parts if it is larger than {@link maxCopied}. Its tags
 * stay, as do its encryption and storage class; its ACL is reset, as by any copy.
 */
export async function replaceHeaders(
  client: S3Client,
  { bucket, key }: Place,
  object: Source & Pick<ObjectHead, 'size'>,
): Promise<void> {
  const { size, headers, metadata } = object;
  if (size > maxCopied) return copyByParts(client, { bucket, key }, { bucket, key }, { size, source: object });
  await client.document({
    method: 'PUT',
    bucket,
    key,
    headers: {
      ...headers,
      ...metadataHeaders(metadata),
      ...storedHeaders(object),
      'x-amz-copy-source': sourceOf({ bucket, key }),
      'x-amz-metadata-directive': 'REPLACE',
    },
  });
}

/** Returns user metadata as headers. Adds the prefix, unless it was typed. @throws S3Failure for a name that no header can have */
function metadataHeaders(metadata: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => {
      const bare = name.toLowerCase().startsWith(metaPrefix) ? name.slice(metaPrefix.length) : name;
      if (!/^[\w!#$%&'*+.^`|~-]+$/.test(bare)) {
        throw new S3Failure({ status: 0, code: 'InvalidMetadataName', message: name, requestId: '' });
      }
      return [`${metaPrefix}${bare.toLowerCase()}`, encodeMetadata(value)];
    }),
  );
}
