import type { Clock } from '../../ports/clock.ts';
import type { Bucket } from '../buckets/bucket.ts';
import { markerOf, positionOf } from './listing-marker.ts';
import { listPage, type ListingEntry, type ListingPage, type ListingPosition } from './listing.ts';
import type { Objects } from '../objects/objects.ts';
import { versionIdOf, type CurrentVersion, type Version } from '../objects/versions.ts';

/** A version or delete marker, with its key. */
export interface ListedRow {
  readonly key: string;
  readonly version: Version;
  readonly isLatest: boolean;
}

/** The parameters of ListObjectVersions. Markers are as sent by the client; `''` means none. */
export interface VersionListingRequest {
  readonly prefix: string;
  readonly delimiter: string;
  readonly keyMarker: string;
  /** An instance id, or `null`. */
  readonly versionIdMarker: string;
  readonly limit: number;
}

export interface VersionListingPage extends Omit<ListingPage<ListedRow>, 'next'> {
  readonly next: { readonly keyMarker: string; readonly versionIdMarker: string | undefined } | undefined;
}

interface Entry extends ListingEntry {
  readonly currentVersion: CurrentVersion;
}

/** The number of keys whose versions are read concurrently. */
const concurrency = 32;
/** The number of keys with one version that are added in one go. */
const singles = 128;

/** Returns one page of versions and delete markers: keys in byte order, the versions of a key newest first. */
export async function listVersions(
  deps: { readonly objects: Objects; readonly clock: Clock },
  bucket: Bucket,
  request: VersionListingRequest,
  effort: number,
): Promise<VersionListingPage> {
  const { objects, clock } = deps;
  const until = clock.now() + effort;
  const rowsOf = async (
    { key, currentVersion }: Entry,
    limit: number,
    afterRow?: string,
  ): Promise<readonly ListedRow[]> => {
    const versions = await objects.versions(bucket, key, currentVersion, limit, afterRow);
    return versions.map((version) => ({ key, version, isLatest: version.replacedAt === undefined }));
  };
  const page = await listPage<Entry, ListedRow>(
    { ...request, position: await firstPosition(objects, bucket, request) },
    {
      fetch: async (query) => {
        const { entries, more } = await objects.scan(bucket, query);
        return { entries: entries, more };
      },
      rows: async (entries, limit, afterRow) => {
        // Most keys have one version, which takes no read and no promise.
        const alone = entries.findIndex(({ currentVersion }) => currentVersion.olderCount > 0);
        if (afterRow === undefined && alone !== 0) {
          const single = entries.slice(0, Math.min(limit, alone < 0 ? limit : alone, singles));
          return single.map(({ key, currentVersion }) => [{ key, version: currentVersion, isLatest: true }]);
        }
        const some = entries.slice(0, concurrency);
        return Promise.all(some.map((entry, at) => rowsOf(entry, limit, at === 0 ? afterRow : undefined)));
      },
      rowId: ({ version }) => version.instance,
      expired: () => clock.now() > until,
    },
  );
  const next = page.next && { keyMarker: markerOf(page.next), versionIdMarker: shownId(page) };
  return { ...page, next };
}

/** Returns the row that the next page begins after, as the version id that clients saw in this page. */
function shownId({ rows, next }: ListingPage<ListedRow>): string | undefined {
  const last = rows.at(-1)?.version;
  return last !== undefined && last.instance === next?.row ? versionIdOf(last) : next?.row;
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
