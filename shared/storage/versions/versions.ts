import type { Attributes } from '../../ports/key-value-table.ts';
import { encodeContent } from './stored-values.ts';
import { itemBytes } from '../table/item-size.ts';
import { ItemCodec, type NewItem } from './attribute-codec.ts';
import {
  currentVersionAttributes,
  versionAttributes,
  type BelongsTo,
  type CurrentVersionFields,
  type NamesOf,
  type VersionAttribute,
  type VersionFields,
} from './version-attributes.ts';
import { S3Error } from '../../errors/s3-error.ts';
import { formatHttpDate } from '../../http/fields/dates.ts';

/** A version of an object, or a delete marker, current or not. {@link versionAttributes} has a row for each attribute. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- a name for the type that the table describes
export interface Version extends VersionFields {}

/** The current version of a key, with the counts of the noncurrent ones. */
export interface CurrentVersion extends Version, CurrentVersionFields {}

/** The system-defined metadata that has attributes in the table of version attributes. */
export type SystemMetadata = Pick<Version, NamesOf<'metadata'>>;

/** A version before it has a position in the version chain. */
export type Unplaced = Pick<Version, Exclude<NamesOf<Exclude<BelongsTo, 'place'>>, 'lastModified'>> & {
  /** Milliseconds since the epoch; undefined: now. Only a renamed or an imported object has it, to keep its Last-Modified. */
  readonly lastModified?: number;
  /** Set by an operator's import alone. */
  readonly imported?: Imported;
};

/** What a version keeps of the store that it is imported from, besides its Last-Modified. Its lock is that of the source as well, or none. */
interface Imported {
  /** False: the null version, whatever the versioning of the bucket. */
  readonly named: boolean;
}

const rows = Object.entries<VersionAttribute>(versionAttributes);

/** Returns the rows of the table that a test selects. */
function rowsWhere(test: (row: VersionAttribute) => boolean): Readonly<Record<string, VersionAttribute>> {
  return Object.fromEntries(rows.filter(([, row]) => test(row)));
}

const referring = rows.flatMap(([, { refersTo }]) => (refersTo === undefined ? [] : [refersTo]));
const versionItem = new ItemCodec<Version>(versionAttributes);
const currentVersionItem = new ItemCodec<CurrentVersion>({ ...versionAttributes, ...currentVersionAttributes });
const systemMetadataItem = new ItemCodec<SystemMetadata>(rowsWhere(({ belongsTo }) => belongsTo === 'metadata'));

/** Encodes the item of a noncurrent version. */
export function encodeVersion(version: Version): Attributes {
  const item: NewItem = {};
  versionItem.write(item, version);
  return item;
}

/** Decodes a version from its item. */
export function decodeVersion(item: Attributes): Version {
  return versionItem.read(item);
}

/** Encodes the item of a current version. */
export function encodeCurrentVersion(version: CurrentVersion): Attributes {
  const item: NewItem = {};
  currentVersionItem.write(item, version);
  return item;
}

/** Decodes the item of a current version. */
export function decodeCurrentVersion(item: Attributes): CurrentVersion {
  return currentVersionItem.read(item);
}

/** Encodes the system-defined metadata of a multipart upload, for its item. */
export function encodeSystemMetadata(metadata: SystemMetadata): Attributes {
  const item: NewItem = {};
  systemMetadataItem.write(item, metadata);
  return item;
}

/** Decodes what {@link encodeSystemMetadata} encoded. */
export function decodeSystemMetadata(item: Attributes): SystemMetadata {
  return systemMetadataItem.read(item);
}

/** The names of the attributes that only the item of a current version has. */
export const currentVersionOnly: ReadonlySet<string> = new ItemCodec(currentVersionAttributes).attributes;

/** Returns the references in the item of a version: `b…` or `m…` for content, `d…` for details. */
export function thingsOf(item: Attributes): readonly string[] {
  return referring.flatMap((refersTo) => refersTo(item) ?? []);
}

/** Returns the same as {@link thingsOf}, of a decoded version. */
export function referencesOf({ content, objectAttributes }: Version): readonly string[] {
  return [
    ...(content === undefined ? [] : [encodeContent(content)]),
    ...('details' in objectAttributes ? [`d${objectAttributes.details}`] : []),
  ];
}

/** Returns the attributes of a version that a copy keeps. */
export function contentOf(version: Version): Pick<Version, NamesOf<'content'>> {
  return picked(version, ['content']);
}

/** Returns the system-defined metadata of a version, or of an upload. */
export function systemMetadataOf(version: SystemMetadata): SystemMetadata {
  return picked(version as Version, ['metadata']);
}

/** Returns the attributes of a version that a rename keeps. */
export function renamedOf(version: Version): Pick<Version, NamesOf<'content' | 'metadata' | 'object'>> {
  return picked(version, ['content', 'metadata', 'object']);
}

function picked<Kind extends BelongsTo>(version: Version, kinds: readonly Kind[]): Pick<Version, NamesOf<Kind>> {
  const wanted: ReadonlySet<BelongsTo> = new Set(kinds);
  const found = Object.entries(version).filter(([name]) => {
    const row = versionAttributes[name as keyof Version] as VersionAttribute | undefined;
    return row !== undefined && wanted.has(row.belongsTo);
  });
  return Object.fromEntries(found) as Pick<Version, NamesOf<Kind>>;
}

/** The maximum size of a current version's item with inline object attributes, in bytes, key included: one write unit. */
const maxInlineItemBytes = 1024;

/** The longest values of the attributes that are known only once a version has its position. */
const longest = Object.fromEntries(
  Object.entries<VersionAttribute>({ ...versionAttributes, ...currentVersionAttributes })
    .filter(([, row]) => 'longest' in row)
    .map(([name, row]) => [name, row.longest]),
) as Omit<CurrentVersion, Exclude<keyof Unplaced, 'lastModified' | 'imported'>>;

/** Tells whether a version with inline object attributes fits into one write unit, whatever its later position in the chain. */
export function fitsInline(key: string, version: Unplaced): boolean {
  const keyBytes = 'pk'.length + 'head/'.length + 22 + '/15'.length + 'sk'.length + Buffer.byteLength(key);
  return keyBytes + itemBytes(encodeCurrentVersion({ ...version, ...longest })) <= maxInlineItemBytes;
}

/** Returns the ETag without quotes: the MD5 in hex, with `-<parts>` for a multipart upload. */
export function etagOf(version: Pick<Version, 'md5' | 'partCount'>): string {
  const hex = hexOf(version.md5 ?? noBytes);
  return version.partCount === undefined ? hex : `${hex}-${version.partCount}`;
}

const noBytes = new Uint8Array();

/** The two digits of each byte. */
const hexDigits: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Returns bytes in hexadecimal. For so few bytes a loop takes a third of the time of a Buffer, and a listing has a thousand ETags. */
function hexOf(bytes: Uint8Array): string {
  let hex = '';
  for (let at = 0; at < bytes.length; at += 1) hex += hexDigits[bytes[at]!]!;
  return hex;
}

/** Returns the version id shown to clients. */
export function versionIdOf(version: Pick<Version, 'instance' | 'named'>): string {
  return version.named ? version.instance : 'null';
}

/**
 * Returns the version that a request names, if it exists and is not a delete marker. A current marker hides the object; a marker
 * named by its id can only be deleted. The headers of both errors report the marker.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/DeleteMarker.html
 *
 * @throws S3Error NoSuchKey, MethodNotAllowed (a delete marker by its id)
 */
export function presentVersion(version: Version | undefined, key: string, versionId: string | undefined): Version {
  if (version === undefined) throw new S3Error('NoSuchKey', { details: { Key: key } });
  if (!version.marker) return version;
  const headers = { 'x-amz-delete-marker': 'true', 'x-amz-version-id': versionIdOf(version) };
  if (versionId === undefined) throw new S3Error('NoSuchKey', { details: { Key: key }, headers });
  throw new S3Error('MethodNotAllowed', {
    details: { ResourceType: 'DeleteMarker' },
    headers: { ...headers, allow: 'DELETE', 'last-modified': formatHttpDate(version.lastModified) },
  });
}
