import { invalidArgument, S3Error } from '../errors/s3-error.ts';
import { parseHttpDate, parseTimestamp } from './dates.ts';
import type { Fields } from './message.ts';

/*
 * Conditional requests (RFC 9110 §13, https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-requests.html).
 * Reading the fields and judging an object are apart: fields are read with the request, an object is judged only behind
 * authorisation, and a write is checked again at every attempt of its commit.
 */

/** What a condition is compared with. Undefined, where allowed, is an absent object or a current delete marker. */
export interface ObjectFacts {
  /** Without quotes. */
  readonly etag: string;
  /** Milliseconds since 1970; compared by the second. */
  readonly lastModified: number;
}

/** A list of entity tags without quotes and weakness, or any. */
export type EntityTags = '*' | readonly string[];

/** The If-* fields of a request, or those about the source of a copy. */
export interface Preconditions {
  /** What stands before the names of the fields; `''` for the request's own. */
  readonly prefix: string;
  readonly ifMatch: EntityTags | undefined;
  readonly ifNoneMatch: EntityTags | undefined;
  readonly ifModifiedSince: number | undefined;
  readonly ifUnmodifiedSince: number | undefined;
}

/** A condition that did not hold, named as in the error body. */
export interface Failed {
  readonly failed: string;
}

/**
 * Reads If-Match, If-None-Match, If-Modified-Since and If-Unmodified-Since without judging them. Invalid dates are
 * ignored (RFC 9110 §13.1.3).
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

/** Whether a write hangs on a condition at all. */
export function isConditionalWrite({ ifMatch, ifNoneMatch }: Preconditions): boolean {
  return ifMatch !== undefined || ifNoneMatch !== undefined;
}

/** Reads `"a", W/"b", c` or `*`. Many clients leave the quotes out; some write them around the star. */
export function parseEntityTags(value: string): EntityTags {
  const tags = Array.from(value.matchAll(/(?:W\/)?"([^"]*)"|([^\s,"]+)/g), ([, quoted, bare]) => quoted ?? bare!);
  return tags.includes('*') ? '*' : tags;
}

/**
 * Judges GET and HEAD. A missing object has answered 404 before.
 * If-Match outranks If-Unmodified-Since, and If-None-Match outranks If-Modified-Since.
 */
export function judgeRead(conditions: Preconditions, object: ObjectFacts): 'proceed' | 'not-modified' | Failed {
  return brokenMatch(conditions, object) ?? (unchanged(conditions, object) === undefined ? 'proceed' : 'not-modified');
}

/** Judges the source of a copy or a rename, where "not modified" is a failure like any other. */
export function judgeSource(conditions: Preconditions, source: ObjectFacts): 'proceed' | Failed {
  return brokenMatch(conditions, source) ?? unchanged(conditions, source) ?? 'proceed';
}

/**
 * Judges what a write replaces: PUT, POST, CompleteMultipartUpload and the target of a copy know the two conditions on
 * entity tags only.
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

/** Judges the target of a rename, which knows the conditions on dates as well. */
export function judgeRenameTarget(
  conditions: Preconditions,
  current: ObjectFacts | undefined,
): 'proceed' | 'no-such-key' | Failed {
  const verdict = judgeWrite(conditions, current);
  return verdict === 'proceed' && current !== undefined ? judgeSource(conditions, current) : verdict;
}

/** What a DELETE may hang on, in its header fields or in an entry of DeleteObjects. */
export interface DeleteConditions {
  readonly ifMatch: EntityTags | undefined;
  readonly lastModified: number | undefined;
  readonly size: number | undefined;
}

const lastModifiedField = 'x-amz-if-match-last-modified-time';
const sizeField = 'x-amz-if-match-size';

/**
 * Reads the conditions of DeleteObject. Unlike If-Modified-Since, a date that can't be read is an error: ignoring it
 * would delete what the client wanted to keep.
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

/** Judges a DELETE. Deleting what is absent succeeds whatever the conditions. */
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

/** The error a verdict stands for; undefined for those that are none. */
export function verdictError(verdict: 'proceed' | 'not-modified' | 'no-such-key' | Failed): S3Error | undefined {
  if (verdict === 'no-such-key') return new S3Error('NoSuchKey');
  if (typeof verdict === 'string') return undefined;
  return new S3Error('PreconditionFailed', { details: { Condition: verdict.failed } });
}

/** If-Match, or without it If-Unmodified-Since, failing. */
function brokenMatch({ prefix, ifMatch, ifUnmodifiedSince }: Preconditions, object: ObjectFacts): Failed | undefined {
  if (ifMatch !== undefined) return matches(ifMatch, object) ? undefined : { failed: `${prefix}If-Match` };
  if (ifUnmodifiedSince === undefined || seconds(object.lastModified) <= seconds(ifUnmodifiedSince)) return undefined;
  return { failed: `${prefix}If-Unmodified-Since` };
}

/** If-None-Match, or without it If-Modified-Since, failing. */
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
