import type { Checksum, ChecksumAlgorithm, ChecksumType } from '../../checksums/algorithms.ts';
import { decodeEncryption, encodeEncryption, type EncryptionRecord } from '../../encryption/customer-key.ts';
import type { Attribute, Attributes } from '../../ports/key-value-table.ts';
import { madeAt, sequenceOf } from '../table/ids.ts';
import { itemBytes } from '../table/item-size.ts';
import { decodeStorageClass, encodeStorageClass, type StorageClass } from './storage-class.ts';

/** Response headers that belong to an object's content: what was sent on upload, as sent. */
export interface ContentHeaders {
  readonly contentType?: string;
  readonly cacheControl?: string;
  readonly contentDisposition?: string;
  readonly contentEncoding?: string;
  readonly contentLanguage?: string;
  readonly expires?: string;
  readonly websiteRedirectLocation?: string;
}

/** What may be long about a version: it lies in the item of the version while that stays small, else in an item of its own. */
export interface ObjectAttributes {
  readonly headers: Omit<ContentHeaders, 'contentType'>;
  /** User metadata, names in lower case without `x-amz-meta-`; values are bytes as latin1 characters. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly (readonly [key: string, value: string])[];
  /** The grants of its ACL, each as the room of access writes it. Absent: the ACL that is called private. */
  readonly grants?: readonly string[];
}

export const noObjectAttributes: ObjectAttributes = { headers: {}, metadata: {}, tags: [] };

/** Where a version's bytes are: one blob, or a manifest of several. */
export type Content =
  { readonly kind: 'blob'; readonly ref: string } | { readonly kind: 'manifest'; readonly id: string };

/** A version of an object, or a delete marker: what current and noncurrent ones have in common. */
export interface Version {
  /** Sequence and randomness; its age and, if `named`, its version id. */
  readonly instance: string;
  /** The write token of the item it was read from. */
  readonly token: string;
  /** False: the null version. */
  readonly named: boolean;
  readonly marker: boolean;
  readonly size: number;
  /** MD5 of the content, or of the parts' MD5s if there is a part count. Undefined for a marker. */
  readonly md5: Uint8Array | undefined;
  readonly partCount: number | undefined;
  readonly content: Content | undefined;
  /** The canonical id of the owning project. */
  readonly owner: string;
  /** Set if the owner is another project than the bucket's. */
  readonly foreign?: true | undefined;
  readonly contentType: string | undefined;
  /** Undefined: STANDARD. */
  readonly storageClass?: StorageClass | undefined;
  readonly checksum: Checksum | undefined;
  /** How its bytes are encrypted, if they are. */
  readonly encryption: EncryptionRecord | undefined;
  readonly tagCount: number;
  /** Inline objectAttributes, or the id of the details item that holds them. */
  readonly objectAttributes: ObjectAttributes | { readonly details: string };
  /** The instance of the key's previous version. */
  readonly previousVersion: string | undefined;
  /** Milliseconds since the epoch. */
  readonly lastModified: number;
  /** The client token of the RenameObject that brought it here, so that a repetition is recognised. */
  readonly renameToken: string | undefined;
  /** When it stopped being current, in milliseconds since the epoch. Undefined for a current version. */
  readonly replacedAt: number | undefined;
}

/** The current version of a key, with what it must know of the others. A noncurrent version has none of that. */
export interface CurrentVersion extends Version {
  /** Non-current versions, how many of them are delete markers, and the bytes of all. */
  readonly olderCount: number;
  readonly olderMarkers: number;
  readonly olderBytes: number;
  /** The instance of the null version, if it is noncurrent. */
  readonly noncurrentNull: string | undefined;
}

/** The most bytes that the item of a current version may have, key included, for its objectAttributes to lie in it: one write unit. */
const maxInlineItemBytes = 1024;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A canonical id that is a UUID is kept in 16 bytes; one that an operator declared is kept as it is. */
function encodeOwner(owner: string): Attribute {
  return uuid.test(owner) ? Buffer.from(owner.replaceAll('-', ''), 'hex') : owner;
}

/** The owner that was read last: the versions of a listing have one owner, or a few. */
let lastOwner: { readonly stored: Uint8Array; readonly id: string } = { stored: new Uint8Array(), id: '' };

function decodeOwner(stored: Attribute | undefined): string {
  if (!(stored instanceof Uint8Array)) return stored as string;
  if (!stored.every((byte, at) => byte === lastOwner.stored[at])) {
    const hex = Buffer.from(stored).toString('hex');
    const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
    lastOwner = { stored, id };
  }
  return lastOwner.id;
}

const checksumCode: Readonly<Record<ChecksumAlgorithm, string>> = {
  CRC32: 'c',
  CRC32C: 'i',
  CRC64NVME: 'n',
  SHA1: 's',
  SHA256: 'h',
};
const checksumOfCode = Object.fromEntries(Object.entries(checksumCode).map(([name, code]) => [code, name]));

/** One byte says algorithm and type, the rest is the value. */
export function encodeChecksum({ algorithm, type, value }: Checksum): Uint8Array {
  const code = checksumCode[algorithm];
  return Buffer.concat([Buffer.from(type === 'COMPOSITE' ? code.toUpperCase() : code), value]);
}

export function decodeChecksum(stored: Attribute | undefined): Checksum | undefined {
  if (!(stored instanceof Uint8Array)) return undefined;
  const code = String.fromCharCode(stored[0]!);
  const type: ChecksumType = code === code.toLowerCase() ? 'FULL_OBJECT' : 'COMPOSITE';
  return { algorithm: checksumOfCode[code.toLowerCase()] as ChecksumAlgorithm, type, value: stored.subarray(1) };
}

const headerCodes = {
  cacheControl: 'cc',
  contentDisposition: 'cd',
  contentEncoding: 'ce',
  contentLanguage: 'cl',
  expires: 'ex',
  websiteRedirectLocation: 'wr',
} as const satisfies Record<keyof ObjectAttributes['headers'], string>;

/**
 * ObjectAttributes as the attributes `h` (headers), `um` (user metadata), `tg` (tags) and `a` (grants), each only if there is something.
 */
export function encodeObjectAttributes({ headers, metadata, tags, grants }: ObjectAttributes): Attributes {
  const h: Record<string, string> = {};
  for (const [name, code] of Object.entries(headerCodes)) {
    const value = headers[name as keyof typeof headerCodes];
    if (value !== undefined) h[code] = value;
  }
  return {
    ...(Object.keys(h).length > 0 && { h }),
    ...(Object.keys(metadata).length > 0 && { um: metadata }),
    ...(tags.length > 0 && { tg: tags.map(([key, value]) => [key, value]) }),
    ...(grants && { a: grants }),
  };
}

export function decodeObjectAttributes(item: Attributes): ObjectAttributes {
  const grants = item['a'] as ObjectAttributes['grants'];
  if (item['h'] === undefined && item['um'] === undefined && item['tg'] === undefined) {
    return grants === undefined ? noObjectAttributes : { ...noObjectAttributes, grants };
  }
  const stored = (item['h'] ?? {}) as Record<string, string>;
  const headers: Record<string, string> = {};
  for (const [name, code] of Object.entries(headerCodes)) {
    const value = stored[code];
    if (value !== undefined) headers[name] = value;
  }
  return {
    headers,
    metadata: (item['um'] ?? {}) as Record<string, string>,
    tags: (item['tg'] ?? []) as ObjectAttributes['tags'],
    ...(grants && { grants }),
  };
}

/** A version as attributes. Names have one or two letters because a bucket's listing reads every byte of them. */
export function encodeVersion(version: Version): Attributes {
  const { objectAttributes } = version;
  const storageClass = encodeStorageClass(version.storageClass);
  const clockOfInstance = sequenceOf(version.instance).ms;
  return {
    i: version.instance,
    r: version.token,
    ...(version.named && { v: 1 }),
    ...(version.marker && { m: 1 }),
    ...(!version.marker && { s: version.size }),
    ...(version.md5 && { e: version.md5 }),
    ...(version.partCount !== undefined && { p: version.partCount }),
    ...(version.content && { c: encodeContent(version.content) }),
    o: encodeOwner(version.owner),
    ...(version.foreign && { f: 1 }),
    ...(version.contentType !== undefined && { y: version.contentType }),
    ...(storageClass !== undefined && { sc: storageClass }),
    ...(version.checksum && { k: encodeChecksum(version.checksum) }),
    ...(version.encryption && { x: encodeEncryption(version.encryption) }),
    ...(version.tagCount > 0 && { g: version.tagCount }),
    ...('details' in objectAttributes ? { d: objectAttributes.details } : encodeObjectAttributes(objectAttributes)),
    ...(version.previousVersion !== undefined && { u: version.previousVersion }),
    ...(Math.abs(version.lastModified - clockOfInstance) > 1000 && { w: version.lastModified }),
    ...(version.renameToken !== undefined && { rt: version.renameToken }),
    ...(version.replacedAt !== undefined && { t: version.replacedAt }),
  };
}

export function decodeVersion(item: Attributes): Version {
  return decodeCurrentVersion(item);
}

export function encodeCurrentVersion(currentVersion: CurrentVersion): Attributes {
  return {
    ...encodeVersion(currentVersion),
    ...(currentVersion.olderCount > 0 && { n: currentVersion.olderCount }),
    ...(currentVersion.olderMarkers > 0 && { nm: currentVersion.olderMarkers }),
    ...(currentVersion.olderBytes > 0 && { nb: currentVersion.olderBytes }),
    ...(currentVersion.noncurrentNull !== undefined && { z: currentVersion.noncurrentNull }),
  };
}

/** One object literal, without spreads: a listing decodes a thousand of them. */
export function decodeCurrentVersion(item: Attributes): CurrentVersion {
  const instance = item['i'] as string;
  const content = item['c'] as string | undefined;
  const details = item['d'] as string | undefined;
  const encryption = item['x'] as Uint8Array | undefined;
  return {
    instance,
    token: item['r'] as string,
    named: item['v'] === 1,
    marker: item['m'] === 1,
    size: (item['s'] as number | undefined) ?? 0,
    md5: item['e'] as Uint8Array | undefined,
    partCount: item['p'] as number | undefined,
    content: content === undefined ? undefined : decodeContent(content),
    owner: decodeOwner(item['o']),
    foreign: item['f'] === 1 ? true : undefined,
    contentType: item['y'] as string | undefined,
    storageClass: decodeStorageClass(item['sc']),
    checksum: decodeChecksum(item['k']),
    encryption: encryption && decodeEncryption(encryption),
    tagCount: (item['g'] as number | undefined) ?? 0,
    objectAttributes: details === undefined ? decodeObjectAttributes(item) : { details },
    previousVersion: item['u'] as string | undefined,
    lastModified: (item['w'] as number | undefined) ?? sequenceOf(instance).ms,
    renameToken: item['rt'] as string | undefined,
    replacedAt: item['t'] as number | undefined,
    olderCount: (item['n'] as number | undefined) ?? 0,
    olderMarkers: (item['nm'] as number | undefined) ?? 0,
    olderBytes: (item['nb'] as number | undefined) ?? 0,
    noncurrentNull: item['z'] as string | undefined,
  };
}

/** What a listing of objects shows of a current version. */
export type Listed = Pick<
  Version,
  'marker' | 'size' | 'md5' | 'partCount' | 'owner' | 'lastModified' | 'content' | 'storageClass'
>;

/** The attributes of a current version that {@link decodeListed} looks at. */
export const listedAttributes: ReadonlySet<string> = new Set(['i', 'm', 's', 'e', 'p', 'o', 'w', 'c', 'sc']);

/** A part of {@link decodeCurrentVersion}. */
export function decodeListed(item: Attributes): Listed {
  const content = item['c'] as string | undefined;
  return {
    marker: item['m'] === 1,
    size: (item['s'] as number | undefined) ?? 0,
    md5: item['e'] as Uint8Array | undefined,
    partCount: item['p'] as number | undefined,
    owner: decodeOwner(item['o']),
    lastModified: (item['w'] as number | undefined) ?? madeAt(item['i'] as string),
    content: content === undefined ? undefined : decodeContent(content),
    storageClass: decodeStorageClass(item['sc']),
  };
}

/** `b<blob ref>` for one blob, `m<id>` for a manifest. */
export function encodeContent(content: Content): string {
  return content.kind === 'blob' ? `b${content.ref}` : `m${content.id}`;
}

export function decodeContent(stored: string): Content {
  const rest = stored.slice(1);
  return stored.startsWith('b') ? { kind: 'blob', ref: rest } : { kind: 'manifest', id: rest };
}

/** A version before it has a place among the others. */
export type Unplaced = Omit<
  Version,
  'instance' | 'token' | 'named' | 'foreign' | 'previousVersion' | 'lastModified' | 'replacedAt' | 'renameToken'
> & {
  readonly lastModified?: number;
  readonly renameToken?: string | undefined;
};

/** Whether a current version with these objectAttributes inline stays within one write unit, however many noncurrent ones there may be. */
export function fitsInline(key: string, version: Unplaced): boolean {
  const longest: CurrentVersion = {
    ...version,
    foreign: true,
    renameToken: version.renameToken,
    lastModified: 9_999_999_999_999,
    replacedAt: undefined,
    instance: '-'.repeat(32),
    token: '-'.repeat(12),
    named: true,
    previousVersion: '-'.repeat(32),
    olderCount: 99_999_999,
    olderMarkers: 99_999_999,
    olderBytes: 999_999_999_999,
    noncurrentNull: '-'.repeat(32),
  };
  const keyBytes = 'pk'.length + 'head/'.length + 22 + '/15'.length + 'sk'.length + Buffer.byteLength(key);
  return keyBytes + itemBytes(encodeCurrentVersion(longest)) <= maxInlineItemBytes;
}

/** The ETag without quotes: the MD5 in hex, and `-<parts>` for a multipart upload. */
export function etagOf(version: Pick<Version, 'md5' | 'partCount'>): string {
  const hex = hexOf(version.md5 ?? noBytes);
  return version.partCount === undefined ? hex : `${hex}-${version.partCount}`;
}

const noBytes = new Uint8Array();

/** The two digits of each byte. */
const hexDigits: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Bytes in hexadecimal. For so few bytes a loop takes a third of what a buffer takes, and a listing shows a thousand of them. */
function hexOf(bytes: Uint8Array): string {
  let hex = '';
  for (let at = 0; at < bytes.length; at += 1) hex += hexDigits[bytes[at]!]!;
  return hex;
}

/** The version id shown to clients. */
export function versionIdOf(version: Pick<Version, 'instance' | 'named'>): string {
  return version.named ? version.instance : 'null';
}
