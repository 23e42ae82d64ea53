import { maximumKeyBytes } from '../../http/address.ts';
import { EventLoopBudget, turnForLongWork } from '../../ports/event-loop.ts';
import { compareUtf8 } from '../../ports/utf8-order.ts';
import { behindPrefix, type Start } from '../utf8-order.ts';

/**
 * The parameters of a page of any listing: objects, versions, uploads. Listings of uploads access the table only through
 * {@link ListingSource}; for objects see object-listing.ts, for versions version-listing.ts.
 *
 * A listing shows lines in the byte order of their names. A name is a key or, where several keys share what follows the
 * prefix up to the first delimiter, their group, shown once as a common prefix. A marker hides every line whose name
 * does not sort after it. So a marker inside a group hides that group, for `marker`, `start-after`, `key-marker` and
 * tokens alike, as in Ceph RGW.
 */
export interface ListingRequest {
  readonly prefix: string;
  /** The delimiter; `''` means none. */
  readonly delimiter: string;
  /** The start of the page; undefined means the first line. */
  readonly position: ListingPosition | undefined;
  /** The maximum number of lines in the page, rows and common prefixes together. */
  readonly limit: number;
}

/** A position between the lines of a listing. */
export interface ListingPosition {
  /** The page continues after this key or common prefix. */
  readonly after: string;
  /** `after` is a dead key in a group not shown yet: the page continues within the group. */
  readonly inside?: boolean;
  /** The page continues among the rows of the key `after`, after the row with this id. */
  readonly row?: string;
}

/** An entry of the table, one per key. */
export interface ListingEntry {
  readonly key: string;
}

/** At most one of `from` (inclusive) and `after` (exclusive) is given, and it begins with `prefix`. */
export interface ListingQuery extends Start {
  readonly prefix: string;
  readonly limit: number;
}

/** The source of entries and of the rows they yield. */
export interface ListingSource<Entry extends ListingEntry, Row> {
  /**
   * Returns the next entries in the order of their keys' UTF-8 bytes. May return fewer than `limit`, but returns none
   * only if no more exist.
   */
  fetch(query: ListingQuery): Promise<{ readonly entries: readonly Entry[]; readonly more: boolean }>;

  /**
   * Returns the rows that each of these entries yields, in order. May stop, even within an entry, after `limit`
   * rows in total.
   * @param afterRow if defined, the rows of the first entry begin after the row with this id
   */
  rows(entries: readonly Entry[], limit: number, afterRow: string | undefined): Promise<readonly (readonly Row[])[]>;

  /** Returns the id of a row, for entries that yield several. */
  rowId?(row: Row): string;

  /** Returns whether time has run out, so that the page must end, possibly short. */
  expired(): boolean;
}

export interface ListingPage<Row> {
  readonly rows: readonly Row[];
  readonly commonPrefixes: readonly string[];
  /** The start of the next page; undefined if this is the last one. */
  readonly next: ListingPosition | undefined;
}

/** Returns the common prefix that a key is shown under, or undefined if the key itself is shown. */
export function groupOf(key: string, prefix: string, delimiter: string): string | undefined {
  if (delimiter === '' || !key.startsWith(prefix)) return undefined;
  const at = key.indexOf(delimiter, prefix.length);
  return at < 0 ? undefined : key.slice(0, at + delimiter.length);
}

/** The cost of placing one entry, and of reading its rows, in steps of the event loop budget. */
const stepsPerEntry = 1;
const stepsPerRows = 8;

/**
 * Reads one page of a listing of uploads. It is full or the last one, unless the source expires: then it
 * may be short, but the next page begins further on. Once a group is shown its keys are not read, beyond the query that
 * found it. So the number of queries grows with the lines shown, not with the number of keys in the groups.
 */
export async function listPage<Entry extends ListingEntry, Row>(
  request: ListingRequest,
  source: ListingSource<Entry, Row>,
): Promise<ListingPage<Row>> {
  const { prefix, delimiter, limit, position } = request;
  const lines = new Lines<Row>(limit, position);
  if (limit === 0 || Buffer.byteLength(prefix) > maximumKeyBytes) return lines.page(undefined);

  await turnForLongWork();
  const budget = new EventLoopBudget();
  let start = firstStart(request);
  let size = firstSize(request);
  while (start !== undefined) {
    const { entries, more } = await source.fetch({ prefix, limit: size, ...start });
    await budget.spend(entries.length * stepsPerEntry);
    const before = lines.count;
    let foldedAtEnd = 0;
    let shown: string | undefined;

    for (let at = 0; at < entries.length;) {
      const entry = entries[at]!;
      const group = groupOf(entry.key, prefix, delimiter);
      if (group === undefined) {
        const end = endOf(entries, at, (key) => groupOf(key, prefix, delimiter) === undefined);
        if (!(await addRows(lines, entries.slice(at, end), request, source, budget))) return lines.page(lines.shown);
        at = end;
      } else {
        if (!lines.addGroup(group)) return lines.page(lines.shown);
        const end = endOf(entries, at, (key) => key.startsWith(group));
        if (end === entries.length) {
          shown = group;
          foldedAtEnd = end - at - 1;
        }
        at = end;
      }
    }

    if (!more) return lines.page(undefined);
    const last = entries.at(-1);
    if (last === undefined) throw new Error('a listing query returned no entries but reported more');
    if (source.expired()) return lines.page(lines.shown);
    start = withinPrefix(shown === undefined ? { after: last.key } : behindPrefix(shown), prefix);
    size = nextSize(size, {
      read: entries.length,
      foldedAtEnd,
      shown: lines.count - before,
      wanted: limit - lines.count + 1,
    });
  }
  return lines.page(undefined);
}

/** Adds the rows of entries outside groups. Returns false if the page was full before all were added. */
async function addRows<Entry extends ListingEntry, Row>(
  lines: Lines<Row>,
  entries: readonly Entry[],
  { limit, position }: ListingRequest,
  source: ListingSource<Entry, Row>,
  budget: EventLoopBudget,
): Promise<boolean> {
  let rest = entries;
  while (rest.length > 0) {
    const afterRow = rest[0]!.key === position?.after ? position.row : undefined;
    // One more than fits shows whether the page is the last one.
    const given = await source.rows(rest, limit - lines.count + 1, afterRow);
    if (given.length === 0) throw new Error('a listing source returned no rows for its entries');
    for (const [index, rows] of given.entries()) {
      for (const row of rows) if (!lines.addRow(row, rest[index]!.key, source.rowId?.(row))) return false;
    }
    rest = rest.slice(given.length);
    await budget.spend(given.length * stepsPerRows);
  }
  const last = entries.at(-1)!;
  if (lines.shown === position || lines.shown?.after !== last.key) lines.pass(last.key);
  return true;
}

/** The lines of a page, and how far the listing got. */
class Lines<Row> {
  readonly rows: Row[] = [];
  readonly commonPrefixes: string[] = [];
  readonly #limit: number;
  /** The last line shown, or the last key after it that yielded no row. */
  shown: ListingPosition | undefined;

  constructor(limit: number, position: ListingPosition | undefined) {
    this.#limit = limit;
    this.shown = position;
  }

  get count(): number {
    return this.rows.length + this.commonPrefixes.length;
  }

  addRow(row: Row, key: string, id: string | undefined): boolean {
    if (this.count === this.#limit) return false;
    this.rows.push(row);
    this.shown = id === undefined ? { after: key } : { after: key, row: id };
    return true;
  }

  addGroup(group: string): boolean {
    if (this.count === this.#limit) return false;
    this.commonPrefixes.push(group);
    this.shown = { after: group };
    return true;
  }

  pass(key: string): void {
    this.shown = { after: key };
  }

  page(next: ListingPosition | undefined): ListingPage<Row> {
    return { rows: this.rows, commonPrefixes: this.commonPrefixes, next };
  }
}

/** Returns the end of the run of entries, beginning at `at`, whose keys belong together. */
function endOf(entries: readonly ListingEntry[], at: number, belongs: (key: string) => boolean): number {
  let end = at + 1;
  while (end < entries.length && belongs(entries[end]!.key)) end++;
  return end;
}

/** Returns the start of the first query, or undefined if that is after all keys of the prefix. */
export function firstStart({ prefix, delimiter, position }: ListingRequest): Start | undefined {
  if (position === undefined || position.after === '') return {};
  const { after, inside, row } = position;
  const group = inside === true ? undefined : groupOf(after, prefix, delimiter);
  if (group !== undefined) return withinPrefix(behindPrefix(group), prefix);
  if (Buffer.byteLength(after) > maximumKeyBytes) return withinPrefix(behindPrefix(after), prefix);
  return withinPrefix(row === undefined ? { after } : { from: after }, prefix);
}

/** Returns a start among the keys with a prefix, which may be the first of them; undefined if it is after all of them. */
export function withinPrefix(start: Start | undefined, prefix: string): Start | undefined {
  if (start === undefined) return undefined;
  const key = start.from ?? start.after ?? '';
  if (key.startsWith(prefix)) return start;
  return compareUtf8(key, prefix) < 0 ? {} : undefined;
}

/** The size of the first query of a listing with groups: kept small, since all of it may fall into one group. */
const firstFoldedQuery = 256;
/** Reading this many current versions takes hardly longer than reading one. */
const smallestQuery = 64;
/** As many bare delete markers as DynamoDB returns in one response. */
const largestQuery = 8192;

/** Returns the size of the first query: one entry more than fits shows whether the page is the last one. */
export function firstSize({ delimiter, limit }: ListingRequest): number {
  return delimiter === '' ? limit + 1 : Math.min(limit + 1, firstFoldedQuery);
}

/**
 * Returns the size of the next query. Small if most of the last query fell into one group, as the next is likely to as
 * well. Larger if the last query gave few lines, because its entries were dead or folded into many small groups:
 * reading on is cheaper than many seeks. Otherwise what the page still needs.
 */
export function nextSize(
  size: number,
  { read, foldedAtEnd, shown, wanted }: { read: number; foldedAtEnd: number; shown: number; wanted: number },
): number {
  if (foldedAtEnd * 2 >= read) return Math.max(smallestQuery, Math.floor(size / 4));
  if (shown * 2 < read) return Math.min(largestQuery, size * 2);
  return Math.max(smallestQuery, Math.min(wanted, size * 4));
}
