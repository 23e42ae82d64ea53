import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { RequestRefused, type S3Endpoint } from '../../../shared/ports/s3-endpoint.ts';
import { compareUtf8 } from '../../../shared/ports/utf8-order.ts';
import type { XmlElement } from '../../../shared/documents/element.ts';
import { parsedXml } from '../../../shared/xml/reader.ts';

/** A version or a delete marker, as a listing of another S3 tells of it. */
export interface SourceVersion {
  /** Undefined: there is only the object as it is. */
  readonly id: string | undefined;
  readonly marker: boolean;
  /** In bytes; 0 of a delete marker. */
  readonly size: number;
  /** Without quotes; empty of a delete marker. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly lastModified: number;
}

/** A key with its versions, oldest first. */
export interface SourceKey {
  readonly key: string;
  readonly versions: readonly SourceVersion[];
}

/** What is listed: all keys of a bucket that begin with a prefix. */
export interface Listed {
  readonly endpoint: S3Endpoint;
  readonly bucket: string;
  readonly prefix: string;
  /** False: current objects alone. */
  readonly isVersioned: boolean;
}

interface Row extends SourceVersion {
  readonly key: string;
  readonly isLatest: boolean;
}

/** The most bytes of a page of a listing. */
const maxPage = 4 * 1024 * 1024;

/**
 * Lists keys in the order of their UTF-8 bytes, each once, with all of its versions.
 * @throws OperatorError also for a listing that does not go on, or is none
 */
export async function* sourceKeys(listed: Listed): AsyncGenerator<SourceKey> {
  let last: string | undefined;
  let held: Row[] = [];
  for await (const { rows, isLast } of pages(listed)) {
    // Not every store lists versions and delete markers together, so the last key of a page may go on in the next one.
    const all = [...held, ...rows].map((row, at) => ({ row, at }));
    all.sort((a, b) => compareUtf8(a.row.key, b.row.key) || a.at - b.at);
    const sorted = all.map(({ row }) => row);
    const open = isLast ? undefined : sorted.at(-1)?.key;
    // A store whose marks are the first of the next page tells some versions twice.
    held = unique(sorted.filter(({ key }) => key === open));
    for (const key of grouped(sorted.filter(({ key: one }) => one !== open))) {
      if (last !== undefined && compareUtf8(key.key, last) <= 0) throw listsWrongly(listed, `${last}, then ${key.key}`);
      last = key.key;
      yield key;
    }
  }
}

function* grouped(rows: readonly Row[]): Generator<SourceKey> {
  for (let at = 0; at < rows.length;) {
    const { key } = rows[at]!;
    let end = at;
    while (rows[end]?.key === key) end += 1;
    yield { key, versions: oldestFirst(unique(rows.slice(at, end))) };
    at = end;
  }
}

/** Returns the rows of a key without those that come again. An object, or a null version, that was replaced between two pages counts as it is later. */
function unique(rows: readonly Row[]): Row[] {
  const byId = new Map<string | undefined, Row>();
  for (const row of rows) {
    const known = byId.get(row.id);
    if (known === undefined || row.lastModified > known.lastModified) byId.set(row.id, row);
  }
  return [...byId.values()];
}

/** Rows of the same time stay as they are listed, newest first. */
function oldestFirst(rows: readonly Row[]): readonly SourceVersion[] {
  return rows
    .toReversed()
    .toSorted((a, b) => Number(a.isLatest) - Number(b.isLatest) || a.lastModified - b.lastModified)
    .map(({ key: _, isLatest: __, ...version }) => version);
}

async function* pages(listed: Listed): AsyncGenerator<{ readonly rows: readonly Row[]; readonly isLast: boolean }> {
  const seen = new Set<string>();
  let furthest = '';
  for (let next: Readonly<Record<string, string>> | undefined = {}; next !== undefined;) {
    const root: XmlElement = await page(listed, next);
    const decode = root.optional('EncodingType')?.text === 'url' ? decodedKey : (text: string): string => text;
    const rows = root.children.flatMap((element) => row(element, decode));
    const isTruncated = root.optional('IsTruncated')?.text === 'true';
    next = isTruncated ? following(root, decode, listed.isVersioned, rows) : undefined;
    if (isTruncated && next === undefined) throw listsWrongly(listed, 'a page without the mark of the next one');
    const mark = JSON.stringify(next);
    if (next !== undefined && seen.has(mark)) throw listsWrongly(listed, 'a page that comes again');
    // Marks of one key are few, while its versions are listed; those of others are compared by their keys.
    const last = lastKey(rows);
    if (compareUtf8(last, furthest) > 0) {
      seen.clear();
      furthest = last;
    }
    seen.add(mark);
    yield { rows, isLast: next === undefined };
  }
}

/** @throws OperatorError */
async function page({ endpoint, bucket, prefix, isVersioned }: Listed, next: Readonly<Record<string, string>>) {
  const kind: Readonly<Record<string, string>> = isVersioned ? { versions: '' } : { 'list-type': '2' };
  const query = { ...kind, prefix, 'encoding-type': 'url', 'max-keys': '1000', ...next };
  try {
    const { bytes } = await endpoint.send({ method: 'GET', bucket, query });
    const { root } = parsedXml(await wholeOf(bytes, maxPage));
    if (root.name === (isVersioned ? 'ListVersionsResult' : 'ListBucketResult')) return root;
    throw new Error(`${root.name} in place of a listing`);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = error instanceof RequestRefused ? `${error.code}: ` : '';
    throw new OperatorError(`cannot list ${bucket} of ${endpoint.name}: ${code}${error.message}`);
  }
}

function following(
  root: XmlElement,
  decode: (text: string) => string,
  isVersioned: boolean,
  rows: readonly Row[],
): Readonly<Record<string, string>> | undefined {
  if (!isVersioned) {
    const token = root.optional('NextContinuationToken')?.text;
    return token === undefined ? undefined : { 'continuation-token': token };
  }
  const key = root.optional('NextKeyMarker')?.text;
  const version = root.optional('NextVersionIdMarker')?.text;
  return (
    (key && { 'key-marker': markedKey(key, decode, rows), ...(version && { 'version-id-marker': version }) }) ||
    undefined
  );
}

/** Returns the key after which a listing goes on: the last of its page. Ceph encodes the keys of a page, but not this one. */
function markedKey(text: string, decode: (text: string) => string, rows: readonly Row[]): string {
  return text === lastKey(rows) ? text : decode(text);
}

function lastKey(rows: readonly Row[]): string {
  return rows.reduce((most, { key }) => (compareUtf8(key, most) > 0 ? key : most), '');
}

const kinds: ReadonlySet<string> = new Set(['Version', 'DeleteMarker', 'Contents']);

function row(element: XmlElement, decode: (text: string) => string): readonly Row[] {
  if (!kinds.has(element.name)) return [];
  const marker = element.name === 'DeleteMarker';
  const lastModified = Date.parse(element.one('LastModified').text);
  const size = marker ? 0 : Number(element.one('Size').text);
  if (!Number.isFinite(lastModified) || !Number.isSafeInteger(size) || size < 0) {
    throw new OperatorError(`a listing has an entry that makes no sense: ${element.one('Key').text}`);
  }
  return [
    {
      key: decode(element.one('Key').text),
      id: element.optional('VersionId')?.text || undefined,
      marker,
      isLatest: element.optional('IsLatest')?.text === 'true',
      size,
      etag: element.optional('ETag')?.text.replaceAll('"', '') ?? '',
      lastModified,
    },
  ];
}

/** Decodes what `encoding-type=url` has encoded, by either of two customs for a blank. @throws OperatorError */
function decodedKey(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new OperatorError(`a listing has a key that is not encoded as it should be: ${JSON.stringify(text)}`);
  }
}

/** Reads a short document. @throws Error */
export async function wholeOf(bytes: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.byteLength;
    if (size > most) throw new Error(`the answer has more than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function listsWrongly({ endpoint, bucket }: Listed, what: string): OperatorError {
  return new OperatorError(`${endpoint.name} lists ${bucket} wrongly: ${JSON.stringify(what)}`);
}
