import type { ItemView, ItemVisitor, Position } from '../../ports/item-view.ts';
import type { Attribute } from '../../ports/key-value-table.ts';
import { madeAtOf } from '../table/keys/ids.ts';
import type { AttributeCodec } from './attribute-codec.ts';
import {
  decodeChecksumKind,
  decodeContent,
  decodeOwner,
  decodeStorageClass,
  type ChecksumKind,
  type Content,
  type StorageClass,
} from './stored-values.ts';
import { currentVersionAttributes, versionAttributes } from './version-attributes.ts';

const { marker, size, md5, partCount, content, owner, storageClass, lastModified, instance } = versionAttributes;
const { named, previousVersion, replacedAt, checksum } = versionAttributes;
const { olderCount } = currentVersionAttributes;

/** The names of the attributes that are read. */
const columns: readonly string[] = [
  marker,
  size,
  md5,
  partCount,
  content,
  owner,
  storageClass,
  lastModified,
  instance,
  named,
  previousVersion,
  replacedAt,
  olderCount,
  checksum,
].map(({ stored }: Pick<AttributeCodec, 'stored'>) => stored[0]!);

const columnOf = ({ stored }: Pick<AttributeCodec, 'stored'>): number => columns.indexOf(stored[0]!);
const markerColumn = columnOf(marker);
const sizeColumn = columnOf(size);
const md5Column = columnOf(md5);
const partCountColumn = columnOf(partCount);
const contentColumn = columnOf(content);
const ownerColumn = columnOf(owner);
const storageClassColumn = columnOf(storageClass);
const lastModifiedColumn = columnOf(lastModified);
const instanceColumn = columnOf(instance);
const namedColumn = columnOf(named);
const previousVersionColumn = columnOf(previousVersion);
const replacedAtColumn = columnOf(replacedAt);
const olderCountColumn = columnOf(olderCount);
const checksumColumn = columnOf(checksum);

const nullId = Buffer.from('null');

/**
 * A version as listings show it, read in place: each property is decoded when it is read. One object shows the versions
 * of a page one after the other, since an object for each would take most of the time.
 */
export class ListedVersion {
  /** The attributes that it reads. */
  static readonly columns = columns;

  readonly #item: ItemView;
  #scratch = Buffer.alloc(64);
  #owner = '';
  #ownerBytes = Buffer.alloc(0);

  /** @param item a view of items with the attributes {@link columns} */
  constructor(item: ItemView) {
    this.#item = item;
  }

  /**
   * The bytes that contain the key, in UTF-8, from {@link keyStart} (inclusive) to {@link keyEnd} (exclusive). Only of a
   * current version: noncurrent ones are found by their instance.
   */
  get keyBytes(): Uint8Array {
    return this.#item.keyBytes;
  }

  get keyStart(): number {
    return this.#item.keyStart;
  }

  get keyEnd(): number {
    return this.#item.keyEnd;
  }

  get key(): string {
    return this.#item.sortKey();
  }

  /** True for a delete marker. */
  get marker(): boolean {
    return this.#item.number(markerColumn) === 1;
  }

  /** True if it is the current version. */
  get isLatest(): boolean {
    return this.#item.number(replacedAtColumn) === undefined;
  }

  get instance(): string {
    return this.#bytes(instanceColumn)!.toString('latin1');
  }

  /** The instance of the key's previous version. */
  get previousVersion(): string | undefined {
    return this.#bytes(previousVersionColumn)?.toString('latin1');
  }

  /** The number of noncurrent versions, if this one is current. */
  get olderCount(): number {
    return this.#item.number(olderCountColumn) ?? 0;
  }

  /** In bytes. */
  get size(): number {
    return this.#item.number(sizeColumn) ?? 0;
  }

  /** Undefined unless the object was uploaded in parts. */
  get partCount(): number | undefined {
    return this.#item.number(partCountColumn);
  }

  /** Milliseconds since the epoch. */
  get lastModified(): number {
    const stored = this.#item.number(lastModifiedColumn);
    if (stored !== undefined) return stored;
    this.#item.copy(instanceColumn, this.#scratch);
    return madeAtOf(this.#scratch);
  }

  /** Undefined: STANDARD. */
  get storageClass(): StorageClass | undefined {
    const code = this.#bytes(storageClassColumn);
    return code && decodeStorageClass(code.toString());
  }

  /** Its checksum without the value. Undefined for a delete marker. */
  get checksum(): ChecksumKind | undefined {
    const stored = this.#bytes(checksumColumn);
    return stored && decodeChecksumKind(String.fromCharCode(stored[0]!));
  }

  /** The canonical id of the owning project. The versions of a page have few owners, so the last one is kept. */
  get owner(): string {
    const bytes = this.#bytes(ownerColumn) ?? Buffer.alloc(0);
    if (this.#ownerBytes.equals(bytes)) return this.#owner;
    this.#ownerBytes = Buffer.from(bytes);
    const stored: Attribute = this.#item.isText(ownerColumn) ? bytes.toString() : this.#ownerBytes;
    return (this.#owner = decodeOwner(stored));
  }

  get content(): Content | undefined {
    const stored = this.#bytes(contentColumn);
    return stored && decodeContent(stored.toString());
  }

  /** Copies the MD5 of the content, or of the parts' MD5s, to the start of `target`. @returns its size in bytes, usually 16 */
  copyMd5(target: Uint8Array): number {
    return Math.max(0, this.#item.copy(md5Column, target));
  }

  /** Returns the version id that clients see, in ASCII, valid until the next call. */
  versionId(): Uint8Array {
    return this.#item.number(namedColumn) === 1 ? this.#bytes(instanceColumn)! : nullId;
  }

  /** Returns the bytes of an attribute, valid until the next call, or undefined. */
  #bytes(of: number): Buffer | undefined {
    const length = this.#item.copy(of, this.#scratch);
    if (length < 0) return undefined;
    if (length > this.#scratch.length) {
      this.#scratch = Buffer.alloc(length);
      this.#item.copy(of, this.#scratch);
    }
    return this.#scratch.subarray(0, length);
  }
}

/**
 * Returns a visitor of the items of versions.
 * @param visit as {@link ItemVisitor.visit}; the version is valid only during the call
 */
export function versionVisitor(visit: (version: ListedVersion) => 'stop' | Position | undefined): ItemVisitor {
  let shown: { readonly item: ItemView; readonly version: ListedVersion } | undefined;
  return {
    columns,
    visit: (item) => {
      if (shown?.item !== item) shown = { item, version: new ListedVersion(item) };
      return visit(shown.version);
    },
  };
}
