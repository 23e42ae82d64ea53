import type { Clock } from '../../ports/clock.ts';
import type { Bucket } from '../buckets/bucket.ts';
import { entriesAsRows, listPage, type ListingEntry, type ListingPage, type ListingRequest } from './listing.ts';
import type { Objects } from '../objects/objects.ts';
import type { Listed } from '../objects/versions.ts';

/** A current version as ListObjects shows it. */
export interface ListedCurrentVersion extends ListingEntry {
  readonly currentVersion: Listed;
}

/**
 * Returns one page of a bucket's objects. Only current versions are read, so each key appears at most once and no key
 * that exists throughout is missed.
 * @param effort milliseconds after which the page may end short
 */
export function listObjects(
  deps: { readonly objects: Objects; readonly clock: Clock },
  bucket: Bucket,
  request: ListingRequest,
  effort: number,
): Promise<ListingPage<ListedCurrentVersion>> {
  const until = deps.clock.now() + effort;
  return listPage<ListedCurrentVersion, ListedCurrentVersion>(request, {
    fetch: async (query) => {
      const { entries, more } = await deps.objects.scanListed(bucket, query);
      return {
        entries: entries.map(({ key, currentVersion }) => ({ key, currentVersion, live: !currentVersion.marker })),
        more,
      };
    },
    rows: entriesAsRows,
    expired: () => deps.clock.now() > until,
  });
}
