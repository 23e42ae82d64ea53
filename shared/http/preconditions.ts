import { invalidArgument, S3Error } from '../errors/s3-error.ts';
import { parseHttpDate, parseTimestamp } from './dates.ts';
import type { Fields } from './message.ts';

/*
 * Conditional requests (RFC 9110 §13, https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-requests.html).
 * The fields are read with the request but evaluated later: reads only after authorisation, writes at every attempt to
 * commit.
 */

/**
 * The facts that conditions are compared with. Undefined, where allowed: the object is absent or its current version is
 * a delete marker.
 */
export interface ObjectFacts {
  /** Without quotes. */
  readonly etag: string;
  /** Milliseconds since 1970, compared at a resolution of one second. */
  readonly lastModified: number;
}

/** A list of entity tags without quotes and `W/`, or any. */
export type EntityTags = '*' | readonly string[];

/** The If-* fields of a request, or those for the source of a copy. */
export interface Preconditions {
  /** The prefix of the field names: `''` for the request's own. */
  readonly prefix: string;
  readonly ifMatch: EntityTags | undefined;
  readonly ifNoneMatch: EntityTags | undefined;
  readonly ifModifiedSince: number | undefined;
  readonly ifUnmodifiedSince: number | undefined;
}

/** A condition that failed, as named in the error body. */
export interface Failed {
  readonly failed: string;
}

/**
 * Reads If-Match, If-None-Match, If-Modified-Since and If-Unmodified-Since without evaluating them. Ignores invalid
 * dates (RFC 9110 §13.1.3).
 * @param prefix `x-amz-copy-source-` or `x-amz-rename-source-` for the conditions on a source
 */
export function parsePreconditions(fields: Fields, prefix = ''): Preconditions {
  return {
    prefix,
    ifMatch: optional(fields.get(`${prefix}if-match`), parseEntityTags),
    ifNoneMatch: optional(fields.get(`${prefix}if-none-match`), parseEntityTags),
    ifModifiedSince: optional(fields.get(`${prefix}if-modified-since`), parseHttpDate),
    ifUnmodifiedSince: optional(fields.get(`${prefix}if-unmodified-since`), parseHttpDate),
  };
}

/** Tells whether a write has conditions. */
export function isConditionalWrite({ ifMatch, ifNoneMatch }: Preconditions): boolean {
  return ifMatch !== undefined || ifNoneMatch !== undefined;
}

/** Parses `"a", W/"b", c` or `*`. Many clients omit the quotes; some quote the star. */
export function parseEntityTags(value: string): EntityTags {
  const tags = Array.from(value.matchAll(/(?:W\/)?"([^"]*)"|([^\s,"]+)/g), ([, quoted, bare]) => quoted ?? bare!);
  return tags.includes('*') ? '*' : tags;
}

/**
 * Evaluates the conditions of GET and HEAD for an existing object. If-Match takes precedence over If-Unmodified-Since,
 * and If-None-Match over If-Modified-Since.
 */
export function judgeRead(conditions: Preconditions, object: ObjectFacts): 'proceed' | 'not-modified' | Failed {
  return brokenMatch(conditions, object) ?? (unchanged(conditions, object) === undefined ? 'proceed' : 'not-modified');
}

/** Evaluates the conditions on the source of a copy or a rename, where "not modified" is a failure like any other. */
export function judgeSource(conditions: Preconditions, source: ObjectFacts): 'proceed' | Failed {
  return brokenMatch(conditions, source) ?? unchanged(conditions, source) ?? 'proceed';
}

/**
 * Evaluates the conditions of a write against the object it replaces. PUT, POST, CompleteMultipartUpload and the target
 * of a copy support only the two conditions on entity tags.
 */
export function judgeWrite(
  { prefix, ifMatch, ifNoneMatch }: Preconditions,
  current: ObjectFacts | undefined,
): 'proceed' | 'no-such-key' | Failed {
  if (ifMatch !== undefined) {
    if (current === undefined) return 'no-such-key';
    if (!matches(ifMatch, current)) return { failed: `${prefix}If-Match` };
  }
  if (ifNoneMatch !== undefined && current !== undefined && matches(ifNoneMatch, current)) {
    return { failed: `${prefix}If-None-Match` };
  }
  return 'proceed';
}

/** Evaluates the conditions on the target of a rename, which also supports conditions on dates. */
export function judgeRenameTarget(
  conditions: Preconditions,
  current: ObjectFacts | undefined,
): 'proceed' | 'no-such-key' | Failed {
  const verdict = judgeWrite(conditions, current);
  return verdict === 'proceed' && current !== undefined ? judgeSource(conditions, current) : verdict;
}

/** The conditions of a DELETE, from header fields or an entry of DeleteObjects. */
export interface DeleteConditions {
  readonly ifMatch: EntityTags | undefined;
  readonly lastModified: number | undefined;
  readonly size: number | undefined;
}

const lastModifiedField = 'x-amz-if-match-last-modified-time';
const sizeField = 'x-amz-if-match-size';

/**
 * Reads the conditions of DeleteObject. An invalid date is an error, unlike in If-Modified-Since: ignoring it would
 * delete an object that the client meant to keep.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html
 * @throws S3Error InvalidArgument
 */
export function parseDeleteConditions(fields: Fields): DeleteConditions {
  return {
    ifMatch: optional(fields.get('if-match'), parseEntityTags),
    lastModified: strict(fields, lastModifiedField, parseTimestamp),
    size: strict(fields, sizeField, (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined)),
  };
}

/** Evaluates the conditions of a DELETE. Deleting an absent object succeeds whatever the conditions. */
export function judgeDelete(
  { ifMatch, lastModified, size }: DeleteConditions,
  current: (ObjectFacts & { readonly size: number }) | undefined,
): 'proceed' | Failed {
  if (current === undefined) return 'proceed';
  if (ifMatch !== undefined && !matches(ifMatch, current)) return { failed: 'If-Match' };
  if (lastModified !== undefined && seconds(lastModified) !== seconds(current.lastModified)) {
    return { failed: lastModifiedField };
  }
  return size === undefined || size === current.size ? 'proceed' : { failed: sizeField };
}

/** Returns the error for a verdict, or undefined if the verdict is not an error. */
export function verdictError(verdict: 'proceed' | 'not-modified' | 'no-such-key' | Failed): S3Error | undefined {
  if (verdict === 'no-such-key') return new S3Error('NoSuchKey');
  if (typeof verdict === 'string') return undefined;
  return new S3Error('PreconditionFailed', { details: { Condition: verdict.failed } });
}

/** Returns If-Match or, in its absence, If-Unmodified-Since if it fails. */
function brokenMatch({ prefix, ifMatch, ifUnmodifiedSince }: Preconditions, object: ObjectFacts): Failed | undefined {
  if (ifMatch !== undefined) return matches(ifMatch, object) ? undefined : { failed: `${prefix}If-Match` };
  if (ifUnmodifiedSince === undefined || seconds(object.lastModified) <= seconds(ifUnmodifiedSince)) return undefined;
  return { failed: `${prefix}If-Unmodified-Since` };
}

/** Returns If-None-Match or, in its absence, If-Modified-Since if it fails. */
function unchanged({ prefix, ifNoneMatch, ifModifiedSince }: Preconditions, object: ObjectFacts): Failed | undefined {
  if (ifNoneMatch !== undefined) return matches(ifNoneMatch, object) ? { failed: `${prefix}If-None-Match` } : undefined;
  if (ifModifiedSince === undefined || seconds(object.lastModified) > seconds(ifModifiedSince)) return undefined;
  return { failed: `${prefix}If-Modified-Since` };
}

function matches(tags: EntityTags, { etag }: ObjectFacts): boolean {
  return tags === '*' || tags.includes(etag);
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

function optional<Value>(value: string | undefined, parse: (value: string) => Value): Value | undefined {
  return value === undefined ? undefined : parse(value);
}

function strict(fields: Fields, name: string, parse: (text: string) => number | undefined): number | undefined {
  const value = fields.get(name);
  if (value === undefined) return undefined;
  const parsed = parse(value);
  if (parsed === undefined) throw invalidArgument(name, value);
  return parsed;
}

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
