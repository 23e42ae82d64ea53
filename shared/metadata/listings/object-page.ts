import type { Position } from '../../ports/item-view.ts';
import type { ListedVersion } from '../objects/listed-version.ts';
import { behindPrefix, type Start } from '../utf8-order.ts';
import type { ListingPosition, ListingRequest } from './listing.ts';

/** Receives the rows of a page in order. */
export interface ObjectRows {
  /** Adds a version, which is valid only during the call. */
  add(version: ListedVersion): void;
}

/**
 * The number of further keys of a common prefix to read before the rest is skipped by a seek, which takes as long as
 * reading this many.
 */
const patience = 8;
/** The cost of reading a version, and of a seek, in steps of the event loop budget. */
const stepsPerVersion = 4;
const stepsPerSeek = 16;

/** A page of a listing of objects under construction: places each current version that it is shown. */
export class ObjectPage {
  readonly commonPrefixes: string[] = [];
  /** The number of rows added. */
  rowCount = 0;
  /** True once a line did not fit: the page is truncated. */
  isFull = false;
  /** Since {@link begin}: the versions visited, and the steps that this took. */
  visited = 0;
  steps = 0;
  readonly #rows: ObjectRows;
  readonly #limit: number;
  /** The number of bytes of a key that the delimiter comes after. */
  readonly #prefixSize: number;
  readonly #delimiter: Buffer;
  /** The last common prefix, and its bytes if the last version visited begins with them. */
  #group = '';
  #groupBytes: Buffer | undefined;
  /** The number of versions visited in the last common prefix, after the one that showed it. */
  #folded = 0;
  /** The last line, or a dead key after it outside any group that an earlier sequence ended with. */
  #shown: ListingPosition | undefined;
  /** The same, or the last dead key in a group not shown yet. Undefined if the last version visited is a row. */
  #examined: ListingPosition | undefined;

  constructor({ prefix, delimiter, limit, position }: ListingRequest, rows: ObjectRows) {
    this.#rows = rows;
    this.#limit = limit;
    this.#prefixSize = Buffer.byteLength(prefix);
    this.#delimiter = Buffer.from(delimiter);
    this.#shown = this.#examined = position;
  }

  /** The number of lines, rows and common prefixes together. */
  get count(): number {
    return this.rowCount + this.commonPrefixes.length;
  }

  /** The number of versions visited at the end that a shown common prefix stands for. */
  get foldedAtEnd(): number {
    return this.#groupBytes === undefined ? 0 : this.#folded;
  }

  /** The start of the next page, if this one is full. */
  get afterShown(): ListingPosition | undefined {
    return this.#shown;
  }

  /** Begins another sequence of versions. Dead keys that the last one ended with need not be read again. */
  begin(): void {
    if (this.#examined?.inside !== true) this.#shown = this.#examined ?? this.#shown;
    this.visited = 0;
    this.steps = 0;
  }

  /** Places the next version. Returns what {@link ItemVisitor.visit} does. */
  visit(version: ListedVersion): 'stop' | Position | undefined {
    this.visited += 1;
    this.steps += stepsPerVersion;
    if (this.#groupBytes !== undefined && beginsWith(version, this.#groupBytes)) return this.#skip();
    this.#groupBytes = undefined;
    const groupEnd = this.#groupEnd(version);
    if (version.marker) {
      this.#examined = { after: version.key, ...(groupEnd >= 0 && { inside: true }) };
      return undefined;
    }
    if (this.count === this.#limit) {
      this.isFull = true;
      return 'stop';
    }
    if (groupEnd < 0) this.#addRow(version);
    else this.#addGroup(version, groupEnd);
    return undefined;
  }

  /**
   * Returns where the listing continues after a sequence of versions.
   * @param next where it would continue if nothing were shown
   */
  continuation(next: Position): Start | undefined {
    return this.#groupBytes === undefined ? next : behindPrefix(this.#group);
  }

  /**
   * Returns the start of the next page, if this one ends after a sequence of versions.
   * @param next where the listing would continue if nothing were shown
   */
  examined(next: Position): ListingPosition | undefined {
    return this.#examined ?? (next.after === undefined ? this.#shown : { after: next.after });
  }

  #addRow(version: ListedVersion): void {
    this.#rows.add(version);
    this.rowCount += 1;
    this.#examined = undefined;
    if (this.count === this.#limit) this.#shown = this.#examined = { after: version.key };
  }

  #addGroup({ keyBytes, keyStart }: ListedVersion, groupEnd: number): void {
    this.#groupBytes = Buffer.from(keyBytes.subarray(keyStart, groupEnd));
    this.#group = this.#groupBytes.toString();
    this.#folded = 0;
    this.commonPrefixes.push(this.#group);
    this.#shown = this.#examined = { after: this.#group };
  }

  /** Passes over a version of the last group, or all that are left of it. No key can follow some groups. */
  #skip(): 'stop' | Position | undefined {
    this.#folded += 1;
    if (this.#folded % patience !== 0) return undefined;
    this.steps += stepsPerSeek;
    return behindPrefix(this.#group) ?? 'stop';
  }

  /** Returns the end of the common prefix that a key is shown under, or −1 if the key itself is shown. */
  #groupEnd({ keyBytes, keyStart, keyEnd }: ListedVersion): number {
    const delimiter = this.#delimiter;
    const size = delimiter.length;
    if (size === 0) return -1;
    const last = keyEnd - size;
    for (let at = keyStart + this.#prefixSize; at <= last; at += 1) {
      let same = 0;
      while (same < size && keyBytes[at + same] === delimiter[same]) same += 1;
      if (same === size) return at + size;
    }
    return -1;
  }
}

function beginsWith({ keyBytes, keyStart, keyEnd }: ListedVersion, start: Uint8Array): boolean {
  if (keyEnd - keyStart < start.length) return false;
  for (let at = 0; at < start.length; at += 1) if (keyBytes[keyStart + at] !== start[at]) return false;
  return true;
}
