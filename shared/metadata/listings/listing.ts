import { maximumKeyBytes } from '../../http/address.ts';
import { EventLoopBudget } from '../../ports/event-loop.ts';
import { compareUtf8 } from '../../ports/utf8-order.ts';
import { behindPrefix, type Start } from '../utf8-order.ts';

/**
 * How every listing is paged: objects, versions, uploads. The table is reached through {@link ListingSource} only.
 *
 * A listing shows lines in the byte order of their names. A name is a key or, where keys share what follows the prefix up
 * to the first delimiter, their group, shown once as a common prefix. A marker hides every line whose name is not behind
 * it. So a marker inside a group hides that group, for `marker`, `start-after`, `key-marker` and tokens alike, as Ceph RGW
 * has it.
 */
export interface ListingRequest {
  readonly prefix: string;
  /** `''` means none. */
  readonly delimiter: string;
  /** Where the page begins; undefined: at the beginning. */
  readonly position: ListingPosition | undefined;
  /** The most lines of the page, rows and common prefixes together. */
  readonly limit: number;
}

/** A place between the lines of a listing. */
export interface ListingPosition {
  /** The page goes on behind this key or common prefix. */
  readonly after: string;
  /** `after` lies in a group that is not shown yet, its keys so far being dead: the page goes on inside the group. */
  readonly inside?: boolean;
  /** The page goes on among the rows of the key `after`, behind the row of this id. */
  readonly row?: string;
}

/** What a table holds for one key. */
export interface ListingEntry {
  readonly key: string;
  /** Dead entries (delete markers, where objects are listed) yield no row and don't bring their group to light. */
  readonly live: boolean;
}

/** At most one of `from` (inclusive) and `after` (exclusive) is given; it begins with `prefix`. */
export interface ListingQuery extends Start {
  readonly prefix: string;
  readonly limit: number;
}

/** Where the entries come from, and what they yield. */
export interface ListingSource<Entry extends ListingEntry, Row> {
  /**
   * The next entries in the order of their keys' UTF-8 bytes. There may be fewer than `limit`, but none only if there are
   * no more.
   */
  fetch(query: ListingQuery): Promise<{ readonly entries: readonly Entry[]; readonly more: boolean }>;

  /**
   * The rows that each of these live entries yields, in order. It may stop, even amid an entry, once it has given `limit`
   * rows altogether.
   * @param behind if defined, the rows of the first entry begin behind the row of this id
   */
  rows(entries: readonly Entry[], limit: number, behind: string | undefined): Promise<readonly (readonly Row[])[]>;

  /** The id of a row, where an entry may yield several. */
  rowId?(row: Row): string;

  /** Whether the page has taken so long that it must end, short if need be. */
  expired(): boolean;
}

export interface ListingPage<Row> {
  readonly rows: readonly Row[];
  readonly commonPrefixes: readonly string[];
  /** Where the next page begins. Undefined: this is the last one. */
  readonly next: ListingPosition | undefined;
}

/** `rows` of a source whose live entries are themselves the rows: ListObjects. */
export async function entriesAsRows<Entry>(entries: readonly Entry[]): Promise<readonly (readonly Entry[])[]> {
  return entries.map((entry) => [entry]);
}

/** The common prefix that a key is shown under, if it is not shown itself. */
export function groupOf(key: string, prefix: string, delimiter: string): string | undefined {
  if (delimiter === '' || !key.startsWith(prefix)) return undefined;
  const at = key.indexOf(delimiter, prefix.length);
  return at < 0 ? undefined : key.slice(0, at + delimiter.length);
}

/** What decoding and placing an entry takes. */
const stepsPerEntry = 4;

/**
 * Reads one page. It is full or the last one, unless the source expires; then it may be short, but the next one begins
 * further on. The keys of a group are not read once it is shown, beyond the query that found it: the number of queries
 * grows with the lines shown, and with the dead entries between them, however many keys the groups hold.
 */
export async function listPage<Entry extends ListingEntry, Row>(
  request: ListingRequest,
  source: ListingSource<Entry, Row>,
): Promise<ListingPage<Row>> {
  const { prefix, delimiter, limit, position } = request;
  const lines = new Lines<Row>(limit, position);
  if (limit === 0 || Buffer.byteLength(prefix) > maximumKeyBytes) return lines.page(undefined);

  const budget = new EventLoopBudget();
  let start = firstStart(request);
  let size = delimiter === '' ? limit + 1 : Math.min(limit + 1, firstFoldedQuery);
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
        if (!(await addRows(lines, entries.slice(at, end), request, source))) return lines.page(lines.shown);
        at = end;
      } else if (entry.live) {
        if (!lines.addGroup(group)) return lines.page(lines.shown);
        const end = endOf(entries, at, (key) => key.startsWith(group));
        if (end === entries.length) {
          shown = group;
          foldedAtEnd = end - at - 1;
        }
        at = end;
      } else {
        lines.passInside(entry.key);
        at++;
      }
    }

    if (!more) return lines.page(undefined);
    const last = entries.at(-1);
    if (last === undefined) throw new Error('a query of a listing had no entries, but more to come');
    if (source.expired()) return lines.page(lines.examined);
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

/** Adds the rows of entries that lie in no group. False: the page was full before them. */
async function addRows<Entry extends ListingEntry, Row>(
  lines: Lines<Row>,
  entries: readonly Entry[],
  { limit, position }: ListingRequest,
  source: ListingSource<Entry, Row>,
): Promise<boolean> {
  let rest = entries.filter((entry) => entry.live);
  while (rest.length > 0) {
    const behind = rest[0]!.key === position?.after ? position.row : undefined;
    // One more than fit tells whether the page is the last one.
    const given = await source.rows(rest, limit - lines.count + 1, behind);
    if (given.length === 0) throw new Error('a listing got no rows for its entries');
    for (const [index, rows] of given.entries()) {
      for (const row of rows) if (!lines.addRow(row, rest[index]!.key, source.rowId?.(row))) return false;
    }
    rest = rest.slice(given.length);
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
  /** The last line shown, or the last dead key behind it outside of any group. */
  shown: ListingPosition | undefined;
  /** The same, or the last dead key in a group not shown yet. */
  examined: ListingPosition | undefined;

  constructor(limit: number, position: ListingPosition | undefined) {
    this.#limit = limit;
    this.shown = position;
    this.examined = position;
  }

  get count(): number {
    return this.rows.length + this.commonPrefixes.length;
  }

  addRow(row: Row, key: string, id: string | undefined): boolean {
    if (this.count === this.#limit) return false;
    this.rows.push(row);
    this.shown = this.examined = id === undefined ? { after: key } : { after: key, row: id };
    return true;
  }

  addGroup(group: string): boolean {
    if (this.count === this.#limit) return false;
    this.commonPrefixes.push(group);
    this.shown = this.examined = { after: group };
    return true;
  }

  pass(key: string): void {
    this.shown = this.examined = { after: key };
  }

  passInside(key: string): void {
    this.examined = { after: key, inside: true };
  }

  page(next: ListingPosition | undefined): ListingPage<Row> {
    return { rows: this.rows, commonPrefixes: this.commonPrefixes, next };
  }
}

/** The end of the run of entries, beginning at `at`, whose keys belong together. */
function endOf(entries: readonly ListingEntry[], at: number, belongs: (key: string) => boolean): number {
  let end = at + 1;
  while (end < entries.length && belongs(entries[end]!.key)) end++;
  return end;
}

/** Where the first query begins. Undefined: behind all keys of the prefix. */
function firstStart({ prefix, delimiter, position }: ListingRequest): Start | undefined {
  if (position === undefined || position.after === '') return {};
  const { after, inside, row } = position;
  const group = inside === true ? undefined : groupOf(after, prefix, delimiter);
  if (group !== undefined) return withinPrefix(behindPrefix(group), prefix);
  if (Buffer.byteLength(after) > maximumKeyBytes) return withinPrefix(behindPrefix(after), prefix);
  return withinPrefix(row === undefined ? { after } : { from: after }, prefix);
}

function withinPrefix(start: Start | undefined, prefix: string): Start | undefined {
  if (start === undefined) return undefined;
  const key = start.from ?? start.after ?? '';
  if (key.startsWith(prefix)) return start;
  return compareUtf8(key, prefix) < 0 ? {} : undefined;
}

/** A first query that would find groups should not be large: all of it may lie in one group. */
const firstFoldedQuery = 256;
/** Reading this many current versions takes hardly longer than reading one. */
const smallestQuery = 64;
/** As many bare delete markers as DynamoDB gives in one answer. */
const largestQuery = 8192;

/**
 * How much to ask for next. Behind a query most of which lay in one group, little: the next is likely to be the same.
 * Behind one that brought few lines, being dead or folded into many small groups, more: reading on is cheaper than many
 * seeks. Else what the page still wants.
 */
function nextSize(
  size: number,
  { read, foldedAtEnd, shown, wanted }: { read: number; foldedAtEnd: number; shown: number; wanted: number },
): number {
  if (foldedAtEnd * 2 >= read) return Math.max(smallestQuery, Math.floor(size / 4));
  if (shown * 2 < read) return Math.min(largestQuery, size * 2);
  return Math.max(smallestQuery, Math.min(wanted, size * 4));
}
