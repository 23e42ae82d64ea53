import { parseHttpDate } from './dates.ts';
import type { ObjectFacts } from './preconditions.ts';

/**
 * Tells whether a request's Range field applies. If-Range names, by entity tag or date, the version of which the client
 * holds a part; for any other version the client gets the whole object (RFC 9110 §13.1.5). A weak tag never matches,
 * because the bytes may differ.
 */
export function rangeApplies(ifRange: string | undefined, object: ObjectFacts): boolean {
  if (ifRange === undefined) return true;
  const date = parseHttpDate(ifRange);
  if (date !== undefined) return date === Math.floor(object.lastModified / 1000) * 1000;
  return ifRange.trim().replace(/^"(.*)"$/, '$1') === object.etag;
}
