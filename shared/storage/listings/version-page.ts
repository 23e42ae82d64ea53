import type { Position } from '../../ports/item-view.ts';
import type { ListedVersion } from '../versions/listed-version.ts';
import type { OlderVersions, OlderVersionsShown } from '../objects/older-versions.ts';
import type { Start } from '../utf8-order.ts';
import { CommonPrefixes } from './common-prefixes.ts';
import type { ListingPosition, ListingRequest } from './listing.ts';
import { stepsPerSeek, stepsPerVersion } from './object-page.ts';

/** Receives the rows of a page of versions and delete markers in order. */
export interface VersionRows {
  /** Adds a version, which is valid only during the call. */
  add(version: ListedVersion): void;
  /** Returns a place after the last row, for those of noncurrent versions of this key, which are read later. */
  olderOf(key: string): Pick<VersionRows, 'add'>;
  /** A measure of the output, which grows with every addition. */
  readonly size: number;
  /** Removes what was added since this was the {@link size}, noncurrent versions included. */
  cut(size: number): void;
}

/** Noncurrent versions that are to be read, of a key that was visited. */
export interface OlderRows {
  readonly older: OlderVersions;
  readonly rows: Pick<VersionRows, 'add'>;
  readonly before: Mark;
  /** The versions added. */
  count: number;
  shown: OlderVersionsShown;
}

/** The state of a page before a key. */
interface Mark {
  readonly size: number;
  readonly rowCount: number;
  readonly prefixCount: number;
  readonly row: string | undefined;
}

/**
 * A page of a listing of versions under construction: places each current version that it is shown, and counts its key's noncurrent
 * ones, which are read afterwards.
 */
export class VersionPage {
  /** The number of rows added, and to be added. */
  rowCount = 0;
  /** True once a line did not fit: the page is truncated. */
  isFull = false;
  /** Since {@link begin}: the versions visited, the steps that this took, and what is to be read. */
  visited = 0;
  steps = 0;
  older: OlderRows[] = [];
  readonly #rows: VersionRows;
  readonly #limit: number;
  readonly #prefixes: CommonPrefixes;
  /** The rows of the first key begin after this instance, if it is the key after which the page begins. */
  readonly #first: ListingPosition | undefined;
  #row: string | undefined;
  /** The last line, if the page has no room for another. */
  #shown: ListingPosition | undefined;
  /** The key of which nothing but noncurrent versions is shown: where the visit stopped. */
  #stoppedAt: string | undefined;

  constructor(request: ListingRequest, rows: VersionRows) {
    this.#rows = rows;
    this.#limit = request.limit;
    this.#prefixes = new CommonPrefixes(request);
    this.#first = request.position;
    this.#row = request.position?.row;
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

  /** Begins another sequence of versions. */
  begin(): void {
    this.visited = 0;
    this.steps = 0;
    this.older = [];
    this.#stoppedAt = undefined;
  }

  /** Places the next current version. Returns what {@link ItemVisitor.visit} does. */
  visit(version: ListedVersion): 'stop' | Position | undefined {
    this.visited += 1;
    this.steps += stepsPerVersion;
    if (this.#prefixes.covers(version)) {
      const wanted = this.#prefixes.skip();
      if (wanted !== undefined) this.steps += stepsPerSeek;
      return wanted;
    }
    if (this.count >= this.#limit) {
      this.isFull = true;
      return 'stop';
    }
    const groupEnd = this.#prefixes.endIn(version);
    if (groupEnd < 0) return this.#addKey(version);
    this.#shown = { after: this.#prefixes.add(version, groupEnd) };
    return undefined;
  }

  /** Adds a noncurrent version. */
  addOlder(to: OlderRows, version: ListedVersion): void {
    to.rows.add(version);
    to.count += 1;
    this.steps += stepsPerVersion;
    if (to.count === to.older.room) this.#shown = positionOf(to.older.key, version);
  }

  /**
   * Call this after the noncurrent versions were added. Returns the key from which everything must be visited again, since it has
   * changed meanwhile.
   */
  settle(): string | undefined {
    for (const { older, before, count, shown } of this.older) {
      if (shown === 'broken') {
        this.#returnTo(before);
        return older.key;
      }
      if (older.expected === undefined) this.rowCount += count;
      if (shown === 'some') this.isFull = true;
    }
    return undefined;
  }

  /**
   * Returns where the listing continues after a sequence of versions, or undefined at its end.
   * @param next where it would continue if nothing were shown
   */
  continuation(next: Position | undefined): Start | undefined {
    if (this.#stoppedAt !== undefined) return { after: this.#stoppedAt };
    return next && this.#prefixes.continuation(next);
  }

  /**
   * Returns the start of the next page, if this one ends after a sequence of versions.
   * @param next where the listing continues, as {@link continuation} returned it
   */
  examined({ after = this.#prefixes.current }: Start): ListingPosition | undefined {
    return after === undefined ? this.#first : { after };
  }

  #addKey(version: ListedVersion): 'stop' | undefined {
    const { size } = this.#rows;
    const { rowCount } = this;
    const row = this.#row;
    this.#row = undefined;
    if (row !== undefined && version.key === this.#first?.after && version.instance >= row) {
      if (version.olderCount === 0) return undefined;
      this.#stoppedAt = version.key;
      this.#readOlder({ key: version.key, after: row, expected: undefined }, { size, rowCount, row });
      return 'stop';
    }
    this.#rows.add(version);
    this.rowCount += 1;
    if (this.count === this.#limit) this.#shown = positionOf(version.key, version);
    const { olderCount } = version;
    if (olderCount === 0) return undefined;
    const expected = { first: version.previousVersion, count: olderCount };
    this.#readOlder({ key: version.key, after: version.instance, expected }, { size, rowCount, row });
    this.rowCount += olderCount;
    return this.count > this.#limit ? 'stop' : undefined;
  }

  #readOlder(start: Omit<OlderVersions, 'room'>, before: Omit<Mark, 'prefixCount'>): void {
    this.older.push({
      older: { ...start, room: this.#limit - this.count },
      before: { ...before, prefixCount: this.#prefixes.shown.length },
      rows: this.#rows.olderOf(start.key),
      count: 0,
      shown: 'all',
    });
  }

  #returnTo({ size, rowCount, prefixCount, row }: Mark): void {
    this.#rows.cut(size);
    this.rowCount = rowCount;
    this.#prefixes.cut(prefixCount);
    this.#row = row;
    this.isFull = false;
  }
}

/** Returns the position after a row. */
function positionOf(key: string, version: ListedVersion): ListingPosition {
  return { after: key, row: Buffer.from(version.versionId()).toString('latin1') };
}
