import { groupOf, type ListingPosition } from './listing.ts';

/** The greatest code point, which hardly any key ends with. */
const insideSign = '\u{10FFFF}';

/**
 * A position as the NextMarker of ListObjects, which clients may take for a key: it is one, or a common prefix. Only a
 * page that ran out of time inside a group of nothing but delete markers needs a sign that this group is still to come.
 */
export function markerOf({ after, inside }: ListingPosition): string {
  return inside === true ? after + insideSign : after;
}

/** The position that a `marker` means, whether {@link markerOf} wrote it or a client chose it. */
export function positionOf(marker: string, prefix: string, delimiter: string): ListingPosition | undefined {
  if (marker === '') return undefined;
  const after = marker.endsWith(insideSign) ? marker.slice(0, -insideSign.length) : marker;
  if (after !== marker && groupOf(after, prefix, delimiter) !== undefined) return { after, inside: true };
  return { after: marker };
}
