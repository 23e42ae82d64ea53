import type { Position } from '../../ports/item-view.ts';
import type { ListedVersion } from '../versions/listed-version.ts';
import type { Start } from '../utf8-order.ts';
import { CommonPrefixes } from './common-prefixes.ts';
import type { ListingPosition, ListingRequest } from './listing.ts';

/** Receives the rows of a page in order. */
export interface ObjectRows {
  /** Adds a version, which is valid only during the call. */
  add(version: ListedVersion): void;
}

/** The cost of reading a version, and of a seek, in steps of the event loop budget. */
export const stepsPerVersion = 4;
export const stepsPerSeek = 16;

/** A page of a listing of objects under construction: places each current version that it is shown. */
export class ObjectPage {
  /** The number of rows added. */
  rowCount = 0;
  /** True once a line did not fit: the page is truncated. */
  isFull = false;
  /** Since {@link begin}: the versions visited, and the steps that this took. */
  visited = 0;
  steps = 0;
  readonly #rows: ObjectRows;
  readonly #limit: number;
  readonly #prefixes: CommonPrefixes;
  /** The last line, or a dead key after it outside any group that an earlier sequence ended with. */
  #shown: ListingPosition | undefined;
  /** The same, or the last dead key in a group not shown yet. Undefined if the last version visited is a row. */
  #examined: ListingPosition | undefined;

  constructor(request: ListingRequest, rows: ObjectRows) {
    this.#rows = rows;
    this.#limit = request.limit;
    this.#prefixes = new CommonPrefixes(request);
    this.#shown = this.#examined = request.position;
  }

  get commonPrefixes(): readonly string[] {
    return this.#prefixes.shown;
  }

  /** The number of lines, rows and common prefixes together. */
  get count(): number {
    return this.rowCount + this.#prefixes.shown.length;
  }

  /** The number of versions visited at the end that a shown common prefix stands for. */
  get foldedAtEnd(): number {
    return this.#prefixes.foldedAtEnd;
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
    if (this.#prefixes.covers(version)) {
      const wanted = this.#prefixes.skip();
      if (wanted !== undefined) this.steps += stepsPerSeek;
      return wanted;
    }
    const groupEnd = this.#prefixes.endIn(version);
    if (version.marker) {
      this.#examined = { after: version.key, ...(groupEnd >= 0 && { inside: true }) };
      return undefined;
    }
    if (this.count === this.#limit) {
      this.isFull = true;
      return 'stop';
    }
    if (groupEnd < 0) this.#addRow(version);
    else this.#shown = this.#examined = { after: this.#prefixes.add(version, groupEnd) };
    return undefined;
  }

  /**
   * Returns where the listing continues after a sequence of versions.
   * @param next where it would continue if nothing were shown
   */
  continuation(next: Position): Start | undefined {
    return this.#prefixes.continuation(next);
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
}
