import { maximumKeyBytes } from '../../http/address.ts';
import type { Clock } from '../../ports/clock.ts';
import { EventLoopBudget, turnForLongWork } from '../../ports/event-loop.ts';
import type { Bucket } from '../buckets/bucket.ts';
import { behindPrefix } from '../utf8-order.ts';
import { markerOf, positionOf } from './listing-token.ts';
import {
  firstSize,
  firstStart,
  groupOf,
  nextSize,
  withinPrefix,
  type ListingPosition,
  type ListingRequest,
} from './listing.ts';
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

export interface UploadListingPage {
  readonly rows: readonly ListedUpload[];
  readonly commonPrefixes: readonly string[];
  /** The start of the next page; undefined if this is the last one. */
  readonly next: { readonly keyMarker: string; readonly uploadIdMarker: string | undefined } | undefined;
}

/** The cost of placing an upload, in steps of the event loop budget. */
const stepsPerUpload = 8;

/**
 * Returns one page of a bucket's open uploads, by key, then oldest first. It is full or the last one, unless time runs
 * out: then it may be short, but the next page begins further on. Once a group is shown its keys are not read, beyond the
 * query that found it. So the number of queries grows with the lines shown, not with the number of keys in the groups.
 * @param effort milliseconds after which the page may end short
 */
export async function listUploads(
  {
    uploads,
    clock,
    signal,
  }: {
    readonly uploads: Pick<Uploads, 'openFrom'>;
    readonly clock: Pick<Clock, 'now'>;
    readonly signal: AbortSignal;
  },
  bucket: Bucket,
  { prefix, delimiter, keyMarker, uploadIdMarker, limit }: UploadListingRequest,
  effort: number,
): Promise<UploadListingPage> {
  const until = clock.now() + effort;
  const from = positionOf(keyMarker, prefix, delimiter);
  const position = from && uploadIdMarker !== '' ? { ...from, row: uploadIdMarker } : from;
  const request: ListingRequest = { prefix, delimiter, position, limit };
  const rows: ListedUpload[] = [];
  const commonPrefixes: string[] = [];
  /** The last line shown, or the last key after it that yielded none. */
  let shown = position;
  const count = (): number => rows.length + commonPrefixes.length;
  const ending = (next: ListingPosition | undefined): UploadListingPage => ({
    rows,
    commonPrefixes,
    next: next && { keyMarker: markerOf(next), uploadIdMarker: next.row },
  });
  if (limit === 0 || Buffer.byteLength(prefix) > maximumKeyBytes) return ending(undefined);

  await turnForLongWork(signal);
  const budget = EventLoopBudget.until(signal);
  let size = firstSize(request);
  for (let start = firstStart(request); start !== undefined;) {
    const found = await uploads.openFrom(bucket, { prefix, limit: size, ...start });
    signal.throwIfAborted();
    await budget.spend(found.uploads.length * stepsPerUpload);
    const before = count();
    let foldedAtEnd = 0;
    for (const upload of found.uploads) {
      const { key, id } = upload;
      const group = groupOf(key, prefix, delimiter);
      if (group !== undefined && group === commonPrefixes.at(-1)) foldedAtEnd += 1;
      else if (key !== position?.after || position.row === undefined || id > position.row) {
        if (count() === limit) return ending(shown);
        if (group === undefined) rows.push(upload);
        else commonPrefixes.push(group);
        shown = group === undefined ? { after: key, row: id } : { after: group };
        foldedAtEnd = 0;
      }
    }

    if (!found.more) return ending(undefined);
    const last = found.uploads.at(-1);
    if (last === undefined) throw new Error('a listing query returned no uploads but reported more');
    const group = groupOf(last.key, prefix, delimiter);
    if (group === undefined && (shown === position || shown?.after !== last.key)) shown = { after: last.key };
    if (clock.now() > until) return ending(shown);
    start = withinPrefix(group === undefined ? { after: last.key } : behindPrefix(group), prefix);
    size = nextSize(size, {
      read: found.uploads.length,
      foldedAtEnd,
      shown: count() - before,
      wanted: limit - count() + 1,
    });
  }
  return ending(undefined);
}
