import type { Owner } from './owner.ts';
import { Utf8Writer, type NameEncoding } from './utf8-writer.ts';
import { escapeXml } from './writer.ts';

/** An object as listings show it. May be read in place: only the elements that are written are decoded. */
export interface ObjectRow {
  /** The bytes that contain the key, in UTF-8, from {@link keyStart} (inclusive) to {@link keyEnd} (exclusive). */
  readonly keyBytes: Uint8Array;
  readonly keyStart: number;
  readonly keyEnd: number;
  /** Milliseconds since 1970. */
  readonly lastModified: number;
  /** Set for an object that was uploaded in parts. */
  readonly partCount?: number | undefined;
  readonly size: number;
  /** Undefined: STANDARD. */
  readonly storageClass?: string | undefined;
  /** Copies the MD5 in the ETag to the start of `target`. @returns its size in bytes */
  copyMd5(target: Uint8Array): number;
}

/** A version or a delete marker as ListObjectVersions shows it. */
export interface VersionRow extends ObjectRow {
  readonly versionId: string;
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
const sizeTag = Buffer.from('&quot;</ETag><Size>');
const standard = Buffer.from('</Size><StorageClass>STANDARD</StorageClass>');
const classTag = Buffer.from('</Size><StorageClass>');
const classEnd = Buffer.from('</StorageClass>');

/** Writes the rows of a listing of objects or versions, as UTF-8. Owners are added at the end, when their names are known. */
export class ListedRows {
  readonly #writer = new Utf8Writer();
  readonly #encoding: NameEncoding | undefined;
  readonly #md5 = Buffer.alloc(16);
  /** The ids of the owners to show, and where. */
  readonly #owners: string[] = [];
  readonly #places: number[] = [];

  /** @param encoding of the keys, if the client asked for it */
  constructor(encoding: NameEncoding | undefined) {
    this.#encoding = encoding;
  }

  /** The ids of the owners that {@link bytes} needs. */
  get owners(): readonly string[] {
    return this.#owners;
  }

  /** Writes `<Contents>`. @param owner the id of the owner, if it is shown */
  object(row: ObjectRow, owner: string | undefined): void {
    this.#key(contentsTag, row).raw(keyEndModifiedTag);
    this.#facts(row, owner).raw(contentsEnd);
  }

  /** Writes `<Version>`. @param owner the id of the owner */
  version(row: VersionRow, owner: string): void {
    this.#writer.raw(versionTag);
    this.#identity(row);
    this.#facts(row, owner).raw(versionEnd);
  }

  /** Writes `<DeleteMarker>`. @param owner the id of the owner */
  deleteMarker(row: VersionRow, owner: string): void {
    this.#writer.raw(markerTag);
    this.#identity(row);
    this.#writer.time(row.lastModified).raw(modifiedEnd);
    this.#place(owner);
    this.#writer.raw(markerEnd);
  }

  /**
   * Returns the rows. No more can be written afterwards.
   * @param ownerOf returns an owner by the id
   */
  bytes(ownerOf: (id: string) => Owner): Uint8Array {
    const rows = this.#writer.bytes();
    if (this.#owners.length === 0) return rows;
    const written = new Map([...new Set(this.#owners)].map((id) => [id, ownerElement(ownerOf(id))]));
    const elements = this.#owners.map((id) => written.get(id)!);
    const size = elements.reduce((sum, { length }) => sum + length, rows.length);
    const bytes = Buffer.allocUnsafe(size);
    let position = 0;
    let from = 0;
    for (const [at, element] of elements.entries()) {
      const to = this.#places[at]!;
      bytes.set(rows.subarray(from, to), position);
      position += to - from;
      bytes.set(element, position);
      position += element.length;
      from = to;
    }
    bytes.set(rows.subarray(from), position);
    return bytes;
  }

  #key(tag: Uint8Array, { keyBytes, keyStart, keyEnd }: ObjectRow): Utf8Writer {
    return this.#writer.raw(tag).name(keyBytes, keyStart, keyEnd, this.#encoding);
  }

  #identity(row: VersionRow): void {
    this.#key(keyTag, row).raw(versionIdTag).text(row.versionId);
    this.#writer.raw(row.isLatest ? latest : notLatest);
  }

  /** Writes what objects and versions share, from the time on. `Type` comes from Ceph RGW and is the same for all objects. */
  #facts(row: ObjectRow, owner: string | undefined): Utf8Writer {
    const writer = this.#writer.time(row.lastModified).raw(modifiedEndEtagTag);
    writer.hex(this.#md5, Math.min(row.copyMd5(this.#md5), this.#md5.length));
    const { partCount, storageClass } = row;
    if (partCount !== undefined) writer.raw(hyphen).integer(partCount);
    writer.raw(sizeTag).integer(row.size);
    if (storageClass === undefined) writer.raw(standard);
    else writer.raw(classTag).text(storageClass).raw(classEnd);
    this.#place(owner);
    return writer;
  }

  #place(owner: string | undefined): void {
    if (owner === undefined) return;
    this.#owners.push(owner);
    this.#places.push(this.#writer.size);
  }
}

function ownerElement({ id, displayName }: Owner): Uint8Array {
  return Buffer.from(`<Owner><ID>${escapeXml(id)}</ID><DisplayName>${escapeXml(displayName)}</DisplayName></Owner>`);
}
