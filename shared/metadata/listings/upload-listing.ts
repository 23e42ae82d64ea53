import type { Clock } from '../../ports/clock.ts';
import type { Bucket } from '../buckets/bucket.ts';
import { markerOf, positionOf } from './listing-marker.ts';
import { listPage, type ListingEntry, type ListingPage } from './listing.ts';
import type { ListedUpload } from '../uploads/upload.ts';
import type { Uploads } from '../uploads/uploads.ts';

/** The parameters of ListMultipartUploads. `''` means no marker. */
export interface UploadListingRequest {
  readonly prefix: string;
  readonly delimiter: string;
  readonly keyMarker: string;
  readonly uploadIdMarker: string;
  readonly limit: number;
}

export interface UploadListingPage extends Omit<ListingPage<ListedUpload>, 'next'> {
  readonly next: { readonly keyMarker: string; readonly uploadIdMarker: string | undefined } | undefined;
}

interface Entry extends ListingEntry {
  readonly uploads: readonly ListedUpload[];
}

/** Returns one page of a bucket's open uploads, by key, then oldest first. */
export async function listUploads(
  deps: { readonly uploads: Uploads; readonly clock: Clock },
  bucket: Bucket,
  request: UploadListingRequest,
  effort: number,
): Promise<UploadListingPage> {
  const { prefix, delimiter, keyMarker, uploadIdMarker, limit } = request;
  const until = deps.clock.now() + effort;
  const from = positionOf(keyMarker, prefix, delimiter);
  const position = from && uploadIdMarker !== '' ? { ...from, row: uploadIdMarker } : from;
  const page = await listPage<Entry, ListedUpload>(
    { prefix, delimiter, position, limit },
    {
      fetch: async (query) => {
        const { uploads, more } = await deps.uploads.openFrom(bucket, query);
        return { entries: byKey(uploads), more };
      },
      rows: async (some, _limit, after) =>
        some.map(({ uploads }, at) =>
          at === 0 && after !== undefined ? uploads.filter(({ id }) => id > after) : uploads,
        ),
      rowId: ({ id }) => id,
      expired: () => deps.clock.now() > until,
    },
  );
  return { ...page, next: page.next && { keyMarker: markerOf(page.next), uploadIdMarker: page.next.row } };
}

function byKey(uploads: readonly ListedUpload[]): readonly Entry[] {
  const entries: { key: string; uploads: ListedUpload[] }[] = [];
  for (const upload of uploads) {
    const last = entries.at(-1);
    if (last?.key === upload.key) last.uploads.push(upload);
    else entries.push({ key: upload.key, uploads: [upload] });
  }
  return entries;
}
