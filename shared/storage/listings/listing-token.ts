import { createHmac, timingSafeEqual } from 'node:crypto';
import { invalidArgument } from '../../errors/s3-error.ts';
import { groupOf, type ListingPosition } from './listing.ts';

/*
 * A continuation token is base64url of: 16 bytes of HMAC-SHA256, a byte of flags, and the position as UTF-8. The HMAC
 * also covers the scope, so a token is useless with another bucket, prefix or delimiter, and cannot be forged.
 */

const macBytes = 16;
const insideFlag = 1;

/**
 * Encodes the token of the next page.
 * @param scope the values the token is bound to: bucket id, prefix and delimiter for ListObjectsV2
 */
export function writeListingToken(
  key: Uint8Array,
  scope: readonly string[],
  { after, inside }: Omit<ListingPosition, 'row'>,
): string {
  const position = Buffer.concat([Buffer.of(inside === true ? insideFlag : 0), Buffer.from(after)]);
  return Buffer.concat([mac(key, scope, position), position]).toString('base64url');
}

/**
 * Decodes a token written by {@link writeListingToken} with the same key and scope.
 * @throws S3Error InvalidArgument for any other token
 */
export function readListingToken(key: Uint8Array, scope: readonly string[], token: string): ListingPosition {
  const bytes = Buffer.from(token, 'base64url');
  const position = bytes.subarray(macBytes);
  if (
    bytes.toString('base64url') !== token ||
    position.length === 0 ||
    !timingSafeEqual(bytes.subarray(0, macBytes), mac(key, scope, position))
  ) {
    throw invalidArgument('continuation-token', token, 'The continuation token provided is incorrect');
  }
  const after = position.toString('utf8', 1);
  return position[0] === insideFlag ? { after, inside: true } : { after };
}

function mac(key: Uint8Array, scope: readonly string[], position: Uint8Array): Uint8Array {
  // JSON contains no bare line feed, so the scope cannot be confused with the position.
  const text = `listing-token\n${JSON.stringify(scope)}\n`;
  return createHmac('sha256', key).update(text).update(position).digest().subarray(0, macBytes);
}

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
