import type { S3Client } from './client.ts';
import { textOf } from './xml.ts';
import type { XmlElement } from '../../shared/documents/element.ts';

export interface ObjectEntry {
  readonly kind: 'object';
  readonly key: string;
  readonly size: number;
  readonly modified: number;
  readonly etag: string;
  /** Of an object that was deleted: the delete markers that hide it. */
  readonly markers?: readonly string[];
}

interface FolderEntry {
  readonly kind: 'folder';
  /** The prefix, ending in `/`. */
  readonly key: string;
}

export type Entry = ObjectEntry | FolderEntry;

export interface Page {
  readonly entries: readonly Entry[];
  /** Continues the listing; absent from the last page. */
  readonly next?: string;
}

/** Names come percent-encoded, since XML cannot hold all of them. */
const encoded = { 'encoding-type': 'url' } as const;
// A copy: a slice would keep the whole page's text alive.
const decode = (text: string): string => decodeURIComponent(text);

export interface ListOptions {
  readonly prefix: string;
  /** False: everything below the prefix, however deep. */
  readonly folders: boolean;
  readonly token?: string | undefined;
  readonly startAfter?: string | undefined;
  readonly maxKeys?: number;
  readonly signal?: AbortSignal;
}

/** Lists a page of objects and folders, in the order of their names. */
export async function listObjects(client: S3Client, bucket: string, options: ListOptions): Promise<Page> {
  const xml = await client.document({
    method: 'GET',
    bucket,
    query: {
      'list-type': '2',
      ...encoded,
      prefix: options.prefix,
      delimiter: options.folders ? '/' : undefined,
      'continuation-token': options.token,
      'start-after': options.startAfter,
      'max-keys': options.maxKeys === undefined ? undefined : String(options.maxKeys),
    },
    signal: options.signal,
  });
  const entries: Entry[] = [];
  for (const child of xml.children) {
    if (child.name === 'Contents') entries.push(objectOf(child));
    else if (child.name === 'CommonPrefixes') entries.push({ kind: 'folder', key: decode(textOf(child, 'Prefix')) });
  }
  const next = xml.optional('NextContinuationToken')?.text;
  return next === undefined ? { entries } : { entries, next };
}

function objectOf(xml: XmlElement): ObjectEntry {
  return {
    kind: 'object',
    key: decode(textOf(xml, 'Key')),
    size: Number(textOf(xml, 'Size')),
    modified: Date.parse(textOf(xml, 'LastModified')),
    etag: textOf(xml, 'ETag').replaceAll('"', ''),
  };
}

/** Goes through all objects below a prefix, page by page. */
export async function* everyObject(
  client: S3Client,
  bucket: string,
  prefix: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly ObjectEntry[]> {
  let token: string | undefined;
  do {
    const page = await listObjects(client, bucket, { prefix, folders: false, token, ...(signal && { signal }) });
    yield page.entries.filter((entry) => entry.kind === 'object');
    token = page.next;
  } while (token !== undefined);
}

export interface Version {
  readonly key: string;
  readonly versionId: string;
  readonly isLatest: boolean;
  readonly modified: number;
  readonly isMarker: boolean;
  /** 0 for delete markers. */
  readonly size: number;
  readonly etag: string;
}

export interface VersionsPage {
  readonly versions: readonly Version[];
  readonly next?: { readonly key: string; readonly versionId: string };
}

/** Lists a page of versions and delete markers, newest first within a key. */
export async function listVersions(
  client: S3Client,
  bucket: string,
  prefix: string,
  after?: VersionsPage['next'],
  signal?: AbortSignal,
): Promise<VersionsPage> {
  const query = {
    versions: '',
    ...encoded,
    prefix,
    'key-marker': after?.key,
    'version-id-marker': after?.versionId === '' ? undefined : after?.versionId,
  };
  const xml = await client.document({ method: 'GET', bucket, query, signal });
  const versions = xml.children.filter(({ name }) => name === 'Version' || name === 'DeleteMarker').map(versionOf);
  if (textOf(xml, 'IsTruncated') !== 'true') return { versions };
  const next = { key: decode(textOf(xml, 'NextKeyMarker')), versionId: textOf(xml, 'NextVersionIdMarker') };
  return { versions, next };
}

/** Goes through all versions and delete markers below a prefix, page by page. */
export async function* everyVersion(
  client: S3Client,
  bucket: string,
  prefix: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly Version[]> {
  let after: VersionsPage['next'];
  do {
    const page = await listVersions(client, bucket, prefix, after, signal);
    yield page.versions;
    after = page.next;
  } while (after !== undefined);
}

function versionOf(xml: XmlElement): Version {
  return {
    key: decode(textOf(xml, 'Key')),
    versionId: textOf(xml, 'VersionId'),
    isLatest: textOf(xml, 'IsLatest') === 'true',
    modified: Date.parse(textOf(xml, 'LastModified')),
    isMarker: xml.name === 'DeleteMarker',
    size: Number(xml.optional('Size')?.text ?? 0),
    etag: textOf(xml, 'ETag').replaceAll('"', ''),
  };
}

/** Returns the latest version of one object, or the delete marker that hides it. */
export async function latestVersion(client: S3Client, bucket: string, key: string): Promise<Version | undefined> {
  const xml = await client.document({
    method: 'GET',
    bucket,
    query: { versions: '', ...encoded, prefix: key, 'max-keys': '1' },
  });
  const [first] = xml.children.filter(({ name }) => name === 'Version' || name === 'DeleteMarker').map(versionOf);
  return first?.key === key ? first : undefined;
}

/** The versions of one object, without those of other names that begin with its name. */
export async function versionsOf(client: S3Client, bucket: string, key: string): Promise<Version[]> {
  const versions: Version[] = [];
  let after: VersionsPage['next'];
  do {
    const page = await listVersions(client, bucket, key, after);
    const own = page.versions.filter((version) => version.key === key);
    versions.push(...own);
    // Names that begin with this one come after it.
    if (own.length < page.versions.length) break;
    after = page.next;
  } while (after !== undefined);
  return versions;
}
