import { parseHttpDate } from './dates.ts';
import type { ObjectFacts } from './preconditions.ts';

/**
 * Whether the Range field of a request counts. If-Range names the version a client holds a part of, by entity tag or by
 * date; for any other version it gets the whole (RFC 9110 §13.1.5). A weak tag never matches: the bytes may differ.
 */
export function rangeApplies(ifRange: string | undefined, object: ObjectFacts): boolean {
  if (ifRange === undefined) return true;
  const date = parseHttpDate(ifRange);
  if (date !== undefined) return date === Math.floor(object.lastModified / 1000) * 1000;
  return ifRange.trim().replace(/^"(.*)"$/, '$1') === object.etag;
}
