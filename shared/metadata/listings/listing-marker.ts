import { groupOf, type ListingPosition } from './listing.ts';

/** The greatest code point, which hardly any key ends with. */
const insideSign = '\u{10FFFF}';

/**
 * Encodes a position as the NextMarker of ListObjects. Clients may take it for a key, so it is a key or a common
 * prefix. Only a page that ran out of time within a group of delete markers alone needs a sign that this group may
 * still be listed.
 */
export function markerOf({ after, inside }: ListingPosition): string {
  return inside === true ? after + insideSign : after;
}

/** Returns the position of a `marker`, whether written by {@link markerOf} or chosen by a client. */
export function positionOf(marker: string, prefix: string, delimiter: string): ListingPosition | undefined {
  if (marker === '') return undefined;
  const after = marker.endsWith(insideSign) ? marker.slice(0, -insideSign.length) : marker;
  if (after !== marker && groupOf(after, prefix, delimiter) !== undefined) return { after, inside: true };
  return { after: marker };
}
