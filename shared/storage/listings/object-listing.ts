import { maximumKeyBytes } from '../../http/address.ts';
import type { Clock } from '../../ports/clock.ts';
import { EventLoopBudget, turnForLongWork } from '../../ports/event-loop.ts';
import type { Position } from '../../ports/item-view.ts';
import type { Bucket } from '../buckets/bucket.ts';
import type { ListedVersion } from '../versions/listed-version.ts';
import type { Objects } from '../objects/objects.ts';
import type { Start } from '../utf8-order.ts';
import { firstSize, firstStart, nextSize, withinPrefix, type ListingPosition, type ListingRequest } from './listing.ts';
import { ObjectPage, type ObjectRows } from './object-page.ts';

/** The source of the current versions of a bucket. */
export interface VersionSource {
  /**
   * Shows the next current versions in the order of their keys' UTF-8 bytes. The source decides how many.
   * @param visit as {@link ItemVisitor.visit}
   * @returns the position after the last version shown; undefined if none follow, or if the visitor stopped
   */
  visit(
    query: Start & { readonly prefix: string; readonly limit: number },
    visit: (version: ListedVersion) => 'stop' | Position | undefined,
  ): Promise<Position | undefined>;

  /** Returns whether time has run out, so that the page must end, possibly short. */
  expired(): boolean;

  /** Aborted when nobody wants the page any more: reading it ends at once, with the reason. */
  readonly signal: AbortSignal;
}

/** A page of a listing of objects, besides its rows. */
export interface ListedPage {
  readonly rowCount: number;
  readonly commonPrefixes: readonly string[];
  /** The start of the next page; undefined if this is the last one. */
  readonly next: ListingPosition | undefined;
}

/**
 * Reads one page of a bucket's objects. Only current versions are read, so each key appears at most once and no key
 * that exists throughout is missed.
 * @param effort milliseconds after which the page may end short
 * @param rows receives the rows
 */
export function listObjects(
  { objects, clock, signal }: { readonly objects: Objects; readonly clock: Clock; readonly signal: AbortSignal },
  bucket: Bucket,
  request: ListingRequest,
  effort: number,
  rows: ObjectRows,
): Promise<ListedPage> {
  const until = clock.now() + effort;
  const source: VersionSource = {
    visit: (query, visit) => objects.visit(bucket, query, visit),
    expired: () => clock.now() > until,
    signal,
  };
  return readObjectPage(request, source, rows);
}

/**
 * Reads one page. It is full or the last one, unless the source expires: then it may be short, but the next page begins
 * further on. Once a group is shown most of its keys are not read. So the work grows with the lines shown and the dead
 * entries between them, not with the number of keys in the groups.
 */
export async function readObjectPage(
  request: ListingRequest,
  source: VersionSource,
  rows: ObjectRows,
): Promise<ListedPage> {
  const { prefix, limit } = request;
  const page = new ObjectPage(request, rows);
  const ending = (next: ListingPosition | undefined): ListedPage => ({
    rowCount: page.rowCount,
    commonPrefixes: page.commonPrefixes,
    next,
  });
  if (limit === 0 || Buffer.byteLength(prefix) > maximumKeyBytes) return ending(undefined);

  await turnForLongWork(source.signal);
  const budget = EventLoopBudget.until(source.signal);
  let size = firstSize(request);
  for (let start = firstStart(request); start !== undefined;) {
    page.begin();
    const before = page.count;
    const next = await source.visit({ prefix, limit: size, ...start }, (version) => page.visit(version));
    if (page.isFull) return ending(page.afterShown);
    source.signal.throwIfAborted();
    if (next === undefined) return ending(undefined);
    if (source.expired()) return ending(page.examined(next));
    start = withinPrefix(page.continuation(next), prefix);
    size = nextSize(size, {
      read: page.visited,
      foldedAtEnd: page.foldedAtEnd,
      shown: page.count - before,
      wanted: limit - page.count + 1,
    });
    await budget.spend(page.steps);
  }
  return ending(undefined);
}
