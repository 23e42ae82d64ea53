import type { Owner } from './owner.ts';
import { document, escapeXml, Markup, timestamp } from './writer.ts';

/*
 * Listings are written as template strings: a page has up to 1,000 entries, for which the general writer would take
 * three times as long.
 */

/** The encoding of names if the client asked for `encoding-type`; see http/url-encoding. */
interface NameEncoding {
  /** The value of `EncodingType`. */
  readonly type: string;
  encode(name: string): string;
}

/** The fields common to all listings. `''` as delimiter means none. */
interface Listing {
  readonly bucket: string;
  readonly prefix: string;
  readonly delimiter: string;
  readonly isTruncated: boolean;
  readonly commonPrefixes: readonly string[];
  readonly encoding?: NameEncoding | undefined;
}

/** An object as shown in listings. */
export interface ListedObject {
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly lastModified: number;
  /** Without quotes. */
  readonly etag: string;
  readonly size: number;
  /** Undefined: STANDARD. */
  readonly storageClass?: string | undefined;
  /** Omitted from ListObjectsV2 without `fetch-owner`. */
  readonly owner?: Owner | undefined;
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjects.html */
export interface ObjectListing extends Listing {
  readonly marker: string;
  /** Present on every truncated page, as in Ceph RGW; S3 returns it only with a delimiter. */
  readonly nextMarker?: string | undefined;
  readonly maxKeys: number;
  readonly objects: readonly ListedObject[];
}

/**
 * Returns the response body of ListObjects. Its prefix is never encoded, as in Ceph RGW: botocore, which always
 * requests encoding, does not decode it.
 */
export function listObjectsResult(listing: ObjectListing, namespace: string): string {
  const name = nameWriter(listing.encoding);
  return page(
    'ListBucketResult',
    namespace,
    `<Name>${escapeXml(listing.bucket)}</Name><Prefix>${escapeXml(listing.prefix)}</Prefix>` +
      `<Marker>${name(listing.marker)}</Marker>` +
      optional('NextMarker', listing.nextMarker, name) +
      `<MaxKeys>${listing.maxKeys}</MaxKeys>` +
      delimiterAndEncoding(listing, name) +
      `<IsTruncated>${listing.isTruncated}</IsTruncated>` +
      contents(listing.objects, name) +
      commonPrefixes(listing.commonPrefixes, name),
  );
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html */
export interface ObjectListingV2 extends Listing {
  /** Echoed as received, even if empty. */
  readonly continuationToken?: string | undefined;
  readonly nextContinuationToken?: string | undefined;
  readonly startAfter?: string | undefined;
  readonly maxKeys: number;
  readonly objects: readonly ListedObject[];
}

/** Returns the response body of ListObjectsV2. Tokens are opaque and never encoded. */
export function listObjectsV2Result(listing: ObjectListingV2, namespace: string): string {
  const name = nameWriter(listing.encoding);
  return page(
    'ListBucketResult',
    namespace,
    `<Name>${escapeXml(listing.bucket)}</Name><Prefix>${name(listing.prefix)}</Prefix>` +
      optional('StartAfter', listing.startAfter, name) +
      optional('ContinuationToken', listing.continuationToken) +
      optional('NextContinuationToken', listing.nextContinuationToken) +
      `<KeyCount>${listing.objects.length + listing.commonPrefixes.length}</KeyCount>` +
      `<MaxKeys>${listing.maxKeys}</MaxKeys>` +
      delimiterAndEncoding(listing, name) +
      `<IsTruncated>${listing.isTruncated}</IsTruncated>` +
      contents(listing.objects, name) +
      commonPrefixes(listing.commonPrefixes, name),
  );
}

/** A version or a delete marker as shown in ListObjectVersions. */
export type ListedVersion =
  | (ListedObject & { readonly kind: 'version'; readonly versionId: string; readonly isLatest: boolean })
  | {
      readonly kind: 'delete-marker';
      readonly key: string;
      readonly versionId: string;
      readonly isLatest: boolean;
      readonly lastModified: number;
      readonly owner?: Owner | undefined;
    };

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html */
export interface VersionListing extends Listing {
  readonly keyMarker: string;
  readonly versionIdMarker: string;
  readonly nextKeyMarker?: string | undefined;
  readonly nextVersionIdMarker?: string | undefined;
  readonly maxKeys: number;
  /** Versions and delete markers ordered by key, then newest first. */
  readonly versions: readonly ListedVersion[];
}

/** Returns the response body of ListObjectVersions. */
export function listVersionsResult(listing: VersionListing, namespace: string): string {
  const name = nameWriter(listing.encoding);
  return page(
    'ListVersionsResult',
    namespace,
    `<Name>${escapeXml(listing.bucket)}</Name><Prefix>${name(listing.prefix)}</Prefix>` +
      `<KeyMarker>${name(listing.keyMarker)}</KeyMarker>` +
      `<VersionIdMarker>${escapeXml(listing.versionIdMarker)}</VersionIdMarker>` +
      optional('NextKeyMarker', listing.nextKeyMarker, name) +
      optional('NextVersionIdMarker', listing.nextVersionIdMarker) +
      `<MaxKeys>${listing.maxKeys}</MaxKeys>` +
      delimiterAndEncoding(listing, name) +
      `<IsTruncated>${listing.isTruncated}</IsTruncated>` +
      listing.versions.map((version) => versionXml(version, name)).join('') +
      commonPrefixes(listing.commonPrefixes, name),
  );
}

function versionXml(version: ListedVersion, name: NameWriter): string {
  const identity =
    `<Key>${name(version.key)}</Key><VersionId>${escapeXml(version.versionId)}</VersionId>` +
    `<IsLatest>${version.isLatest}</IsLatest><LastModified>${timestamp(version.lastModified)}</LastModified>`;
  if (version.kind === 'delete-marker') {
    return `<DeleteMarker>${identity}${optionalOwner('Owner', version.owner)}</DeleteMarker>`;
  }
  return `<Version>${identity}${contentFacts(version)}</Version>`;
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html */
export interface UploadListing extends Listing {
  readonly keyMarker: string;
  readonly uploadIdMarker: string;
  readonly nextKeyMarker?: string | undefined;
  readonly nextUploadIdMarker?: string | undefined;
  readonly maxUploads: number;
  readonly uploads: readonly {
    readonly key: string;
    readonly uploadId: string;
    readonly initiator: Owner;
    readonly owner: Owner;
    /** Undefined: STANDARD. */
    readonly storageClass?: string | undefined;
    /** Milliseconds since 1970. */
    readonly initiated: number;
  }[];
}

/** Returns the response body of ListMultipartUploads. */
export function listMultipartUploadsResult(listing: UploadListing, namespace: string): string {
  const name = nameWriter(listing.encoding);
  const uploads = listing.uploads.map(
    (upload) =>
      `<Upload><Key>${name(upload.key)}</Key><UploadId>${escapeXml(upload.uploadId)}</UploadId>` +
      `${optionalOwner('Initiator', upload.initiator)}${optionalOwner('Owner', upload.owner)}` +
      `<StorageClass>${upload.storageClass ?? 'STANDARD'}</StorageClass><Initiated>${timestamp(upload.initiated)}</Initiated></Upload>`,
  );
  return page(
    'ListMultipartUploadsResult',
    namespace,
    `<Bucket>${escapeXml(listing.bucket)}</Bucket><KeyMarker>${name(listing.keyMarker)}</KeyMarker>` +
      `<UploadIdMarker>${escapeXml(listing.uploadIdMarker)}</UploadIdMarker>` +
      optional('NextKeyMarker', listing.nextKeyMarker, name) +
      optional('NextUploadIdMarker', listing.nextUploadIdMarker) +
      `<Prefix>${name(listing.prefix)}</Prefix>` +
      delimiterAndEncoding(listing, name) +
      `<MaxUploads>${listing.maxUploads}</MaxUploads><IsTruncated>${listing.isTruncated}</IsTruncated>` +
      uploads.join('') +
      commonPrefixes(listing.commonPrefixes, name),
  );
}

/** Writes a key, prefix, delimiter or marker: encoded if requested, and escaped. */
type NameWriter = (name: string) => string;

function nameWriter(encoding: NameEncoding | undefined): NameWriter {
  return encoding === undefined ? escapeXml : (name) => escapeXml(encoding.encode(name));
}

function page(root: string, namespace: string, content: string): string {
  return document(root, namespace, new Markup(content));
}

function optional(element: string, value: string | undefined, write: NameWriter = escapeXml): string {
  return value === undefined ? '' : `<${element}>${write(value)}</${element}>`;
}

function delimiterAndEncoding({ delimiter, encoding }: Listing, name: NameWriter): string {
  return (
    optional('Delimiter', delimiter === '' ? undefined : delimiter, name) + optional('EncodingType', encoding?.type)
  );
}

function contents(objects: readonly ListedObject[], name: NameWriter): string {
  let xml = '';
  for (const object of objects) {
    xml +=
      `<Contents><Key>${name(object.key)}</Key><LastModified>${timestamp(object.lastModified)}</LastModified>` +
      `${contentFacts(object)}</Contents>`;
  }
  return xml;
}

/** Returns the elements that objects and versions share. `Type` comes from Ceph RGW and is the same for all objects. */
function contentFacts({ etag, size, storageClass = 'STANDARD', owner }: ListedObject): string {
  return (
    `<ETag>&quot;${escapeXml(etag)}&quot;</ETag><Size>${size}</Size><StorageClass>${storageClass}</StorageClass>` +
    `${optionalOwner('Owner', owner)}<Type>Normal</Type>`
  );
}

function optionalOwner(element: string, owner: Owner | undefined): string {
  if (owner === undefined) return '';
  return `<${element}><ID>${escapeXml(owner.id)}</ID><DisplayName>${escapeXml(owner.displayName)}</DisplayName></${element}>`;
}

function commonPrefixes(prefixes: readonly string[], name: NameWriter): string {
  return prefixes.map((prefix) => `<CommonPrefixes><Prefix>${name(prefix)}</Prefix></CommonPrefixes>`).join('');
}
