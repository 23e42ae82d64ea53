import { invalidArgument, S3Error } from '../../errors/s3-error.ts';
import { parseHttpDate, parseTimestamp } from './dates.ts';
import type { Fields } from '../message.ts';

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

/** What conditions compare with, by the names that they have here. */
interface Operands {
  readonly ifMatch: EntityTags;
  /** If-None-Match with `*`: there must be nothing. */
  readonly ifAbsent: true;
  /** If-None-Match with anything. */
  readonly ifNoneMatch: EntityTags;
  readonly ifModifiedSince: number;
  readonly ifUnmodifiedSince: number;
  readonly lastModified: number;
  readonly size: number;
}

/** The name of a condition that some operation evaluates. */
export type ConditionName = keyof Operands;

/** The conditions of a request that an operation evaluates: no others can be read. */
export type Conditions<Name extends ConditionName> = {
  /** The prefix of the field names: `''` for the request's own. */
  readonly prefix: string;
} & { readonly [One in Name]: Operands[One] | undefined };

type Comparison = 'ifMatch' | 'ifNoneMatch' | 'ifModifiedSince' | 'ifUnmodifiedSince';

/** The conditions of a read, or those on the source of a copy or a rename. */
export type Preconditions = Conditions<Comparison>;

/** The conditions of a write. */
export type WriteConditions = Conditions<'ifMatch' | 'ifAbsent'>;

/** The conditions on the target of a rename. */
export type RenameConditions = Conditions<'ifMatch' | 'ifAbsent' | 'ifModifiedSince' | 'ifUnmodifiedSince'>;

/** The conditions of a DELETE, from header fields or an entry of DeleteObjects. */
export type DeleteConditions = Conditions<'ifMatch' | 'lastModified' | 'size'>;

const lastModifiedField = 'x-amz-if-match-last-modified-time';
const sizeField = 'x-amz-if-match-size';

/** A condition: its field, what is read of it, and the values that it has a meaning for. Default: all. */
interface Condition<Operand> {
  readonly field: string;
  readonly read: (value: string) => Operand | undefined;
  readonly covers?: (value: string) => boolean;
}

const isAny = (value: string): boolean => parseEntityTags(value) === '*';

const conditions: { readonly [Name in ConditionName]: Condition<Operands[Name]> } = {
  ifMatch: { field: 'If-Match', read: parseEntityTags },
  ifAbsent: { field: 'If-None-Match', read: (value) => isAny(value) || undefined, covers: isAny },
  ifNoneMatch: { field: 'If-None-Match', read: parseEntityTags },
  // Invalid dates are ignored (RFC 9110 §13.1.3), but for the condition of a DELETE: that would delete an object that the client meant to keep.
  ifModifiedSince: { field: 'If-Modified-Since', read: parseHttpDate },
  ifUnmodifiedSince: { field: 'If-Unmodified-Since', read: parseHttpDate },
  lastModified: { field: lastModifiedField, read: strict(lastModifiedField, parseTimestamp) },
  size: {
    field: sizeField,
    read: strict(sizeField, (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined)),
  },
};

const comparisons = ['ifMatch', 'ifNoneMatch', 'ifModifiedSince', 'ifUnmodifiedSince'] as const;
const sourcePrefixes = ['x-amz-copy-source-', 'x-amz-rename-source-'] as const;
type SourcePrefix = (typeof sourcePrefixes)[number];

/** Every field that is a condition, as S3 spells it. */
export const conditionFields: readonly string[] = [
  ...new Set(Object.values(conditions).map(({ field }) => field)),
  // Of directory buckets only.
  'x-amz-if-match-initiated-time',
  ...sourcePrefixes.flatMap((prefix) => comparisons.map((name) => fieldOf(prefix, name))),
];

const lowerConditionFields = conditionFields.map((field) => field.toLowerCase());

function fieldOf(prefix: string, name: ConditionName): string {
  const { field } = conditions[name];
  return prefix === '' ? field : prefix + field.toLowerCase();
}

/** The conditions that an operation evaluates: its row of the table in docs/operations.md. */
export interface ConditionRow<Read> {
  /** Tells whether it evaluates a condition of {@link conditionFields} with this value. */
  evaluates(field: string, value: string): boolean;
  /** @throws S3Error InvalidArgument */
  read(fields: Fields): Read;
}

/** Returns the row of an operation that evaluates these conditions on its object. */
function row<Name extends ConditionName>(names: readonly Name[], prefix = ''): ConditionRow<Conditions<Name>> {
  const known = names.map((name) => {
    const field = fieldOf(prefix, name);
    return { name, ...conditions[name], field, lower: field.toLowerCase() };
  });
  return {
    evaluates: (field, value) => known.some((one) => one.field === field && one.covers?.(value) !== false),
    read: (fields) => {
      const read: Record<string, unknown> = { prefix };
      for (const { name, lower, read: parse } of known) {
        const value = fields.get(lower);
        read[name] = value === undefined ? undefined : parse(value);
      }
      return read as Conditions<Name>;
    },
  };
}

/** Returns the row of an operation that evaluates conditions on a target, and all on its source. */
function withSource<Target>(target: ConditionRow<Target>, prefix: SourcePrefix): ConditionRow<Sourced<Target>> {
  const source = row(comparisons, prefix);
  return {
    evaluates: (field, value) => target.evaluates(field, value) || source.evaluates(field, value),
    read: (fields) => ({ target: target.read(fields), source: source.read(fields) }),
  };
}

/** The conditions of a copy or a rename. */
export interface Sourced<Target> {
  readonly target: Target;
  readonly source: Preconditions;
}

const onWrite = row(['ifMatch', 'ifAbsent']);

/**
 * The conditions that operations evaluate; a write refuses all others (https://github.com/ceph/s3-tests/issues/218), and a read ignores
 * them. https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html
 */
export const evaluated = {
  ofRead: row(comparisons),
  ofWrite: onWrite,
  ofDelete: row(['ifMatch', 'lastModified', 'size']),
  ofCopy: withSource(onWrite, 'x-amz-copy-source-'),
  ofPartCopy: withSource(row([]), 'x-amz-copy-source-'),
  ofRename: withSource(row(['ifMatch', 'ifAbsent', 'ifModifiedSince', 'ifUnmodifiedSince']), 'x-amz-rename-source-'),
} as const;

/** Returns the first condition in the fields that an operation does not evaluate. */
export function firstDropped(fields: Fields, row: ConditionRow<unknown> | undefined): string | undefined {
  return conditionFields.find((field, at) => {
    const value = fields.get(lowerConditionFields[at]!);
    return value !== undefined && row?.evaluates(field, value) !== true;
  });
}

/** A condition that failed, as named in the error body. */
export interface Failed {
  readonly failed: string;
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

/** Evaluates the conditions of a write against the object it replaces. */
export function judgeWrite(
  { ifMatch, ifAbsent }: WriteConditions,
  current: ObjectFacts | undefined,
): 'proceed' | 'no-such-key' | Failed {
  if (ifMatch !== undefined) {
    if (current === undefined) return 'no-such-key';
    if (!matches(ifMatch, current)) return { failed: 'If-Match' };
  }
  return ifAbsent && current !== undefined ? { failed: 'If-None-Match' } : 'proceed';
}

/** Evaluates the conditions on the target of a rename, which also supports conditions on dates. */
export function judgeRenameTarget(
  conditions: RenameConditions,
  current: ObjectFacts | undefined,
): 'proceed' | 'no-such-key' | Failed {
  const verdict = judgeWrite(conditions, current);
  if (verdict !== 'proceed' || current === undefined) return verdict;
  return judgeSource({ ...conditions, ifNoneMatch: undefined }, current);
}

/** Evaluates the conditions of a DELETE that has some: there must be an object. */
export function judgeDelete(
  { ifMatch, lastModified, size }: DeleteConditions,
  current: (ObjectFacts & { readonly size: number }) | undefined,
): 'proceed' | 'no-such-key' | Failed {
  if (current === undefined) return 'no-such-key';
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

function strict(name: string, parse: (text: string) => number | undefined): (value: string) => number {
  return (value) => {
    const parsed = parse(value);
    if (parsed === undefined) throw invalidArgument(name, value);
    return parsed;
  };
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
