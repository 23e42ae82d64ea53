import { maximumKeyBytes } from '../../http/address.ts';
import { compareUtf8 } from '../../ports/utf8-order.ts';
import { behindPrefix, type Start } from '../utf8-order.ts';

/**
 * The parameters of a page of any listing: of objects (object-listing.ts), versions (version-listing.ts), or uploads
 * (upload-listing.ts).
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

/** Returns the common prefix that a key is shown under, or undefined if the key itself is shown. */
export function groupOf(key: string, prefix: string, delimiter: string): string | undefined {
  if (delimiter === '' || !key.startsWith(prefix)) return undefined;
  const at = key.indexOf(delimiter, prefix.length);
  return at < 0 ? undefined : key.slice(0, at + delimiter.length);
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
