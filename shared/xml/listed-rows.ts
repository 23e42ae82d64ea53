import type { Owner } from '../documents/owner.ts';
import { escapeXml } from '../documents/text.ts';
import { Utf8Writer, type NameEncoding } from './utf8-writer.ts';

/** A key: the bytes that contain it, in UTF-8, from {@link keyStart} (inclusive) to {@link keyEnd} (exclusive). */
export interface RowKey {
  readonly keyBytes: Uint8Array;
  readonly keyStart: number;
  readonly keyEnd: number;
}

/** What listings show of a checksum. */
export interface ShownChecksum {
  readonly algorithm: string;
  readonly type: string;
}

/** An object as listings show it. May be read in place: only the elements that are written are decoded. */
export interface ObjectRow {
  /** Milliseconds since 1970. */
  readonly lastModified: number;
  /** Set for an object that was uploaded in parts. */
  readonly partCount?: number | undefined;
  readonly size: number;
  /** Undefined: STANDARD. */
  readonly storageClass?: string | undefined;
  readonly checksum?: ShownChecksum | undefined;
  /** Copies the MD5 in the ETag to the start of `target`. @returns its size in bytes */
  copyMd5(target: Uint8Array): number;
}

/** A version or a delete marker as ListObjectVersions shows it. */
export interface VersionRow extends ObjectRow {
  /** Returns the version id in UTF-8. */
  versionId(): Uint8Array;
  readonly isLatest: boolean;
}

const keyTag = Buffer.from('<Key>');
const contentsTag = Buffer.from('<Contents><Key>');
const contentsEnd = Buffer.from('<Type>Normal</Type></Contents>');
const versionTag = Buffer.from('<Version>');
const versionEnd = Buffer.from('<Type>Normal</Type></Version>');
const markerTag = Buffer.from('<DeleteMarker>');
const markerEnd = Buffer.from('</DeleteMarker>');
const keyEndModifiedTag = Buffer.from('</Key><LastModified>');
const modifiedEnd = Buffer.from('</LastModified>');
const modifiedEndEtagTag = Buffer.from('</LastModified><ETag>&quot;');
const versionIdTag = Buffer.from('</Key><VersionId>');
const latest = Buffer.from('</VersionId><IsLatest>true</IsLatest><LastModified>');
const notLatest = Buffer.from('</VersionId><IsLatest>false</IsLatest><LastModified>');
const hyphen = Buffer.from('-');
const etagEnd = Buffer.from('&quot;</ETag>');
const algorithmTag = Buffer.from('<ChecksumAlgorithm>');
const typeTag = Buffer.from('</ChecksumAlgorithm><ChecksumType>');
const typeEnd = Buffer.from('</ChecksumType>');
const sizeTag = Buffer.from('<Size>');
const standard = Buffer.from('</Size><StorageClass>STANDARD</StorageClass>');
const classTag = Buffer.from('</Size><StorageClass>');
const classEnd = Buffer.from('</StorageClass>');

/** Writes the rows of a listing of objects or versions, as UTF-8. Owners are added at the end, when their names are known. */
export class ListedRows {
  readonly #writer = new Utf8Writer();
  readonly #encoding: NameEncoding | undefined;
  readonly #md5 = Buffer.alloc(16);
  /** The ids of owners and further rows that are inserted when the rows are complete, with their positions. */
  readonly #inserted: (string | ListedRows)[] = [];
  readonly #places: number[] = [];

  /** @param encoding of the keys, if the client asked for it */
  constructor(encoding: NameEncoding | undefined) {
    this.#encoding = encoding;
  }

  /** The ids of the owners that {@link bytes} needs. */
  get owners(): readonly string[] {
    return this.#inserted.flatMap((one) => (typeof one === 'string' ? one : one.owners));
  }

  /** Grows with everything that is written or inserted. */
  get size(): number {
    return this.#writer.size + this.#inserted.length;
  }

  /** Writes `<Contents>`. @param owner the id of the owner, if it is shown */
  object(row: RowKey & ObjectRow, owner: string | undefined): void {
    this.#key(contentsTag, row).raw(keyEndModifiedTag);
    this.#facts(row, owner).raw(contentsEnd);
  }

  /** Writes `<Version>`. @param owner the id of the owner */
  version(key: RowKey, row: VersionRow, owner: string): void {
    this.#writer.raw(versionTag);
    this.#identity(key, row);
    this.#facts(row, owner).raw(versionEnd);
  }

  /** Writes `<DeleteMarker>`. @param owner the id of the owner */
  deleteMarker(key: RowKey, row: VersionRow, owner: string): void {
    this.#writer.raw(markerTag);
    this.#identity(key, row);
    this.#writer.time(row.lastModified).raw(modifiedEnd);
    this.#place(owner);
    this.#writer.raw(markerEnd);
  }

  /** Returns rows that will stand after those written so far. They may be written until {@link bytes} is called. */
  inserted(): ListedRows {
    const rows = new ListedRows(this.#encoding);
    this.#inserted.push(rows);
    this.#places.push(this.#writer.size);
    return rows;
  }

  /** Removes the rows that were written or inserted since this was the {@link size}. */
  cut(size: number): void {
    const first = this.#places.findIndex((place, at) => place + at >= size);
    const left = first < 0 ? this.#places.length : first;
    this.#inserted.length = this.#places.length = left;
    this.#writer.cut(size - left);
  }

  /**
   * Returns the rows. No more can be written afterwards.
   * @param ownerOf returns an owner by the id
   */
  bytes(ownerOf: (id: string) => Owner): Uint8Array {
    const elements = new Map([...new Set(this.owners)].map((id) => [id, ownerElement(ownerOf(id))]));
    return this.#assembled(elements);
  }

  #assembled(owners: ReadonlyMap<string, Uint8Array>): Uint8Array {
    const rows = this.#writer.bytes();
    if (this.#inserted.length === 0) return rows;
    const parts = this.#inserted.map((one) => (typeof one === 'string' ? owners.get(one)! : one.#assembled(owners)));
    const size = parts.reduce((sum, { length }) => sum + length, rows.length);
    const bytes = Buffer.allocUnsafe(size);
    let position = 0;
    let from = 0;
    for (const [at, part] of parts.entries()) {
      const to = this.#places[at]!;
      bytes.set(rows.subarray(from, to), position);
      position += to - from;
      bytes.set(part, position);
      position += part.length;
      from = to;
    }
    bytes.set(rows.subarray(from), position);
    return bytes;
  }

  #key(tag: Uint8Array, { keyBytes, keyStart, keyEnd }: RowKey): Utf8Writer {
    return this.#writer.raw(tag).name(keyBytes, keyStart, keyEnd, this.#encoding);
  }

  #identity(key: RowKey, row: VersionRow): void {
    const versionId = this.#key(keyTag, key).raw(versionIdTag);
    const id = row.versionId();
    versionId.name(id, 0, id.length, undefined);
    this.#writer.raw(row.isLatest ? latest : notLatest);
  }

  /** Writes what objects and versions share, from the time on. `Type` comes from Ceph RGW and is the same for all objects. */
  #facts(row: ObjectRow, owner: string | undefined): Utf8Writer {
    const writer = this.#writer.time(row.lastModified).raw(modifiedEndEtagTag);
    writer.hex(this.#md5, Math.min(row.copyMd5(this.#md5), this.#md5.length));
    const { partCount, storageClass, checksum } = row;
    if (partCount !== undefined) writer.raw(hyphen).integer(partCount);
    writer.raw(etagEnd);
    if (checksum) writer.raw(algorithmTag).text(checksum.algorithm).raw(typeTag).text(checksum.type).raw(typeEnd);
    writer.raw(sizeTag).integer(row.size);
    if (storageClass === undefined) writer.raw(standard);
    else writer.raw(classTag).text(storageClass).raw(classEnd);
    this.#place(owner);
    return writer;
  }

  #place(owner: string | undefined): void {
    if (owner === undefined) return;
    this.#inserted.push(owner);
    this.#places.push(this.#writer.size);
  }
}

function ownerElement({ id, displayName }: Owner): Uint8Array {
  return Buffer.from(`<Owner><ID>${escapeXml(id)}</ID><DisplayName>${escapeXml(displayName)}</DisplayName></Owner>`);
}
