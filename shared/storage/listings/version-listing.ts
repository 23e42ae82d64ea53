import { maximumKeyBytes } from '../../http/address.ts';
import type { Clock } from '../../ports/clock.ts';
import { EventLoopBudget, turnForLongWork } from '../../ports/event-loop.ts';
import type { Bucket } from '../buckets/bucket.ts';
import type { ListedVersion } from '../versions/listed-version.ts';
import type { Objects } from '../objects/objects.ts';
import type { OlderVersions, OlderVersionsShown } from '../objects/older-versions.ts';
import { damagedChain, maxReads } from '../version-changes/version-chain.ts';
import type { Start } from '../utf8-order.ts';
import { markerOf, positionOf } from './listing-token.ts';
import { firstSize, firstStart, nextSize, withinPrefix, type ListingPosition, type ListingRequest } from './listing.ts';
import type { ListedPage, VersionSource } from './object-listing.ts';
import { stepsPerSeek } from './object-page.ts';
import { VersionPage, type VersionRows } from './version-page.ts';

/** The parameters of ListObjectVersions. Markers are as sent by the client; `''` means none. */
export interface VersionListingRequest {
  readonly prefix: string;
  readonly delimiter: string;
  readonly keyMarker: string;
  /** An instance id, or `null`. */
  readonly versionIdMarker: string;
  readonly limit: number;
}

/** A page of a listing of versions, besides its rows. */
export interface VersionListingPage {
  readonly commonPrefixes: readonly string[];
  readonly next: { readonly keyMarker: string; readonly versionIdMarker: string | undefined } | undefined;
}

/** The source of all versions of a bucket. */
interface AllVersionsSource extends VersionSource {
  /** Shows noncurrent versions of a key, as {@link visitOlderVersions} does. */
  visitOlder(older: OlderVersions, visit: (version: ListedVersion) => void): Promise<OlderVersionsShown>;

  /** Returns the error for a key whose versions never agreed. */
  damaged(key: string): Error;
}

/** The number of keys whose noncurrent versions are read concurrently. */
const concurrency = 32;

/**
 * Reads one page of versions and delete markers: keys in byte order, the versions of a key newest first.
 * @param effort milliseconds after which the page may end short
 * @param rows receives the rows
 */
export async function listVersions(
  { objects, clock, signal }: { readonly objects: Objects; readonly clock: Clock; readonly signal: AbortSignal },
  bucket: Bucket,
  request: VersionListingRequest,
  effort: number,
  rows: VersionRows,
): Promise<VersionListingPage> {
  const until = clock.now() + effort;
  const position = await firstPosition(objects, bucket, request);
  const source: AllVersionsSource = {
    visit: (query, visit) => objects.visit(bucket, query, visit),
    visitOlder: (older, visit) => objects.visitOlder(bucket, older, visit),
    expired: () => clock.now() > until,
    signal,
    damaged: (key) => damagedChain(bucket.id, key),
  };
  const { commonPrefixes, next } = await readVersionPage({ ...request, position }, source, rows);
  return { commonPrefixes, next: next && { keyMarker: markerOf(next), versionIdMarker: next.row } };
}

/**
 * Reads one page. It is full or the last one, unless the source expires: then it may be short, but the next page begins further on.
 * Current versions are visited in order, and the noncurrent ones of each visit read afterwards. If those of a key are of another moment
 * than its current version, the page returns to this key.
 */
async function readVersionPage(
  request: ListingRequest,
  source: AllVersionsSource,
  rows: VersionRows,
): Promise<ListedPage> {
  const { prefix, limit } = request;
  const page = new VersionPage(request, rows);
  const ending = (next: ListingPosition | undefined): ListedPage => ({
    rowCount: page.rowCount,
    commonPrefixes: page.commonPrefixes,
    next,
  });
  if (limit === 0 || Buffer.byteLength(prefix) > maximumKeyBytes) return ending(undefined);

  await turnForLongWork(source.signal);
  const budget = EventLoopBudget.until(source.signal);
  const changed = new ChangedKeys(source);
  let size = firstSize(request);
  for (let start = firstStart(request); start !== undefined;) {
    page.begin();
    const before = page.count;
    const next = await source.visit({ prefix, limit: size, ...start }, (version) => page.visit(version));
    source.signal.throwIfAborted();
    await readOlder(page, source, budget);
    const key = page.settle();
    if (key !== undefined) {
      start = changed.start(key);
      continue;
    }
    if (page.isFull) return ending(page.afterShown);
    const position = page.continuation(next);
    if (position === undefined) return ending(undefined);
    if (source.expired()) return ending(page.examined(position));
    start = withinPrefix(position, prefix);
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

/** Reads the noncurrent versions of the keys that were visited last. */
async function readOlder(page: VersionPage, source: AllVersionsSource, budget: EventLoopBudget): Promise<void> {
  for (let at = 0; at < page.older.length; at += concurrency) {
    await budget.spend(page.steps);
    page.steps = 0;
    const some = page.older.slice(at, at + concurrency);
    source.signal.throwIfAborted();
    const reads = some.map((one) => source.visitOlder(one.older, (version) => page.addOlder(one, version)));
    const shown = await Promise.all(reads);
    page.steps += some.length * stepsPerSeek;
    some.forEach((one, index) => {
      one.shown = shown[index]!;
    });
  }
}

/** Limits how often a page returns to the same key. Each time takes another concurrent write. */
class ChangedKeys {
  readonly #source: AllVersionsSource;
  #key: string | undefined;
  #times = 0;

  constructor(source: AllVersionsSource) {
    this.#source = source;
  }

  /** Returns where to begin again. @throws Error if that has not helped */
  start(key: string): Start {
    this.#times = key === this.#key ? this.#times + 1 : 1;
    this.#key = key;
    if (this.#times === maxReads) throw this.#source.damaged(key);
    return { from: key };
  }
}

/**
 * Returns the position of the markers. `null` as a version id marker means the null version, wherever it is in the
 * order; if it no longer exists, the listing starts again with the key's newest version.
 */
async function firstPosition(
  objects: Objects,
  bucket: Bucket,
  { prefix, delimiter, keyMarker, versionIdMarker }: VersionListingRequest,
): Promise<ListingPosition | undefined> {
  const position = positionOf(keyMarker, prefix, delimiter);
  if (position === undefined || versionIdMarker === '') return position;
  const row = versionIdMarker === 'null' ? await instanceOfNull(objects, bucket, keyMarker) : versionIdMarker;
  return { ...position, row };
}

/** Sorts after every instance id, so that a listing that resumes after it begins with the newest version. */
const beforeAll = '~';

async function instanceOfNull(objects: Objects, bucket: Bucket, key: string): Promise<string> {
  return (await objects.find(bucket, key, 'null'))?.instance ?? beforeAll;
}
