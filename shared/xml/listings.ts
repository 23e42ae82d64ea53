import type { Owner } from '../documents/owner.ts';
import { document, escapeXml, isXmlText, timestamp } from '../documents/text.ts';
import type { ShownChecksum } from './listed-rows.ts';
import type { NameEncoding } from './utf8-writer.ts';

/*
 * Listings are written as template strings, and the rows of objects as bytes (listed-rows.ts): a page has up to 1,000
 * entries, for which the general writer would take far longer.
 */

/** The fields common to all listings. `''` as delimiter means none. */
interface Listing {
  readonly bucket: string;
  readonly prefix: string;
  readonly delimiter: string;
  readonly isTruncated: boolean;
  readonly commonPrefixes: readonly string[];
  readonly encoding?: NameEncoding | undefined;
}

/** A listing of objects or versions, whose rows are written already. */
interface ListingWithRows extends Listing {
  /** As {@link ListedRows.bytes} returns them. */
  readonly rows: Uint8Array;
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjects.html */
export interface ObjectListing extends ListingWithRows {
  readonly marker: string;
  /** Present on every truncated page, as in Ceph RGW; S3 returns it only with a delimiter. */
  readonly nextMarker?: string | undefined;
  readonly maxKeys: number;
}

/**
 * Returns the response body of ListObjects. Its prefix is encoded only if XML cannot carry it: botocore, which always
 * requests encoding, does not decode it.
 */
export function listObjectsResult(listing: ObjectListing, namespace: string): Uint8Array {
  const name = nameWriter(listing.encoding);
  return pageWithRows(
    'ListBucketResult',
    namespace,
    `<Name>${escapeXml(listing.bucket)}</Name><Prefix>${(isXmlText(listing.prefix) ? escapeXml : name)(listing.prefix)}</Prefix>` +
      `<Marker>${name(listing.marker)}</Marker>` +
      optional('NextMarker', listing.nextMarker, name) +
      `<MaxKeys>${listing.maxKeys}</MaxKeys>` +
      delimiterAndEncoding(listing, name) +
      `<IsTruncated>${listing.isTruncated}</IsTruncated>`,
    listing.rows,
    commonPrefixes(listing.commonPrefixes, name),
  );
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html */
export interface ObjectListingV2 extends ListingWithRows {
  /** Echoed as received, even if empty. */
  readonly continuationToken?: string | undefined;
  readonly nextContinuationToken?: string | undefined;
  readonly startAfter?: string | undefined;
  readonly maxKeys: number;
  /** The number of objects. */
  readonly rowCount: number;
}

/** Returns the response body of ListObjectsV2. Tokens are opaque and never encoded. */
export function listObjectsV2Result(listing: ObjectListingV2, namespace: string): Uint8Array {
  const name = nameWriter(listing.encoding);
  return pageWithRows(
    'ListBucketResult',
    namespace,
    `<Name>${escapeXml(listing.bucket)}</Name><Prefix>${name(listing.prefix)}</Prefix>` +
      optional('StartAfter', listing.startAfter, name) +
      optional('ContinuationToken', listing.continuationToken) +
      optional('NextContinuationToken', listing.nextContinuationToken) +
      `<KeyCount>${listing.rowCount + listing.commonPrefixes.length}</KeyCount>` +
      `<MaxKeys>${listing.maxKeys}</MaxKeys>` +
      delimiterAndEncoding(listing, name) +
      `<IsTruncated>${listing.isTruncated}</IsTruncated>`,
    listing.rows,
    commonPrefixes(listing.commonPrefixes, name),
  );
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html */
export interface VersionListing extends ListingWithRows {
  readonly keyMarker: string;
  readonly versionIdMarker: string;
  readonly nextKeyMarker?: string | undefined;
  readonly nextVersionIdMarker?: string | undefined;
  readonly maxKeys: number;
}

/** Returns the response body of ListObjectVersions. */
export function listVersionsResult(listing: VersionListing, namespace: string): Uint8Array {
  const name = nameWriter(listing.encoding);
  return pageWithRows(
    'ListVersionsResult',
    namespace,
    `<Name>${escapeXml(listing.bucket)}</Name><Prefix>${name(listing.prefix)}</Prefix>` +
      `<KeyMarker>${name(listing.keyMarker)}</KeyMarker>` +
      `<VersionIdMarker>${escapeXml(listing.versionIdMarker)}</VersionIdMarker>` +
      optional('NextKeyMarker', listing.nextKeyMarker, name) +
      optional('NextVersionIdMarker', listing.nextVersionIdMarker) +
      `<MaxKeys>${listing.maxKeys}</MaxKeys>` +
      delimiterAndEncoding(listing, name) +
      `<IsTruncated>${listing.isTruncated}</IsTruncated>`,
    listing.rows,
    commonPrefixes(listing.commonPrefixes, name),
  );
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
    readonly checksum?: ShownChecksum | undefined;
  }[];
}

/** Returns the response body of ListMultipartUploads. */
export function listMultipartUploadsResult(listing: UploadListing, namespace: string): string {
  const name = nameWriter(listing.encoding);
  const uploads = listing.uploads.map(
    (upload) =>
      `<Upload><Key>${name(upload.key)}</Key><UploadId>${escapeXml(upload.uploadId)}</UploadId>` +
      `${optionalOwner('Initiator', upload.initiator)}${optionalOwner('Owner', upload.owner)}` +
      `<StorageClass>${upload.storageClass ?? 'STANDARD'}</StorageClass><Initiated>${timestamp(upload.initiated)}</Initiated>` +
      optional('ChecksumAlgorithm', upload.checksum?.algorithm) +
      optional('ChecksumType', upload.checksum?.type) +
      '</Upload>',
  );
  return document(
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

/** Returns a document whose content is text, rows and text. */
function pageWithRows(root: string, namespace: string, head: string, rows: Uint8Array, tail: string): Uint8Array {
  const [start, end] = document(root, namespace, contentHere).split(contentHere) as [string, string];
  return Buffer.concat([Buffer.from(start + head), rows, Buffer.from(tail + end)]);
}

/** Stands for the content of a document, as no root element contains it. */
const contentHere = '\0';

function optional(element: string, value: string | undefined, write: NameWriter = escapeXml): string {
  return value === undefined ? '' : `<${element}>${write(value)}</${element}>`;
}

function delimiterAndEncoding({ delimiter, encoding }: Listing, name: NameWriter): string {
  return (
    optional('Delimiter', delimiter === '' ? undefined : delimiter, name) + optional('EncodingType', encoding?.type)
  );
}

function optionalOwner(element: string, owner: Owner | undefined): string {
  if (owner === undefined) return '';
  return `<${element}><ID>${escapeXml(owner.id)}</ID><DisplayName>${escapeXml(owner.displayName)}</DisplayName></${element}>`;
}

function commonPrefixes(prefixes: readonly string[], name: NameWriter): string {
  return prefixes.map((prefix) => `<CommonPrefixes><Prefix>${name(prefix)}</Prefix></CommonPrefixes>`).join('');
}
