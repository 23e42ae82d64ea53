import { day, hour } from '../ports/durations.ts';
import type { Bucket } from '../storage/buckets/bucket.ts';
import { madeAt } from '../storage/table/keys/ids.ts';
import type { Recheck } from '../storage/table/rechecks.ts';
import { abortionOf, type Calendar } from './lifecycle.ts';
import { applies, mayMatchBetween, type EnabledRule } from './lifecycle-rules.ts';
import type { CurrentVersion, Version } from '../storage/versions/versions.ts';

/**
 * Lower bounds for the time of the next lifecycle action, in milliseconds since the epoch. Nothing here reads or writes.
 * Every bound holds whatever clients do meanwhile: tags are assumed to match, since they may be changed to match, and
 * versions that clients may uncover by deleting others are assumed to be due.
 */

/** No action will ever be due, unless something is written. */
export const neverDue = Number.POSITIVE_INFINITY;
/** An action may be due at any time. */
const dueAnyTime = 0;

/**
 * The longest time in milliseconds until a change is visible to a pass and to other writers: clocks differ, commits take time,
 * buckets are cached, and eventually consistent reads lag.
 */
export const visibilityLag = hour;

/** Every range is checked this often, whatever its bound, in milliseconds. */
const longestBound = 30 * day;

/** A range of keys, or of open uploads, under a prefix. */
export interface KeyRange {
  readonly kind: 'keys' | 'uploads';
  readonly prefix: string;
  /** The first key; undefined: the first key of the prefix. */
  readonly from: string | undefined;
  /** The end, exclusive; undefined: the end of the prefix. */
  readonly until: string | undefined;
}

/** The properties of a bucket on which bounds depend. */
export type BoundingBucket = Pick<Bucket, 'documents' | 'versioning'>;

/** Returns a string that changes whenever earlier bounds of a bucket become invalid: with its rules, and when versioning is first enabled. */
export function boundsRevision({ documents, versioning }: BoundingBucket): string {
  return `${documents.lifecycle ?? ''} ${versioning === 'off' ? 'unversioned' : 'versioned'}`;
}

/**
 * Returns when an action may first be due for anything written to a range after its check began, except for versions with
 * a {@link Recheck}.
 * @param since when the check began
 */
export function nextDueOfNew(
  rules: readonly EnabledRule[],
  { documents, versioning }: BoundingBucket,
  range: KeyRange,
  since: number,
  calendar: Calendar,
): number {
  // Until then, writers that do not know yet that the bucket has rules write no rechecks.
  if (documents.lifecycle === undefined || since < madeAt(documents.lifecycle) + visibilityLag) return dueAnyTime;
  const written = since - visibilityLag;
  const bounds = [since + longestBound];
  for (const rule of rules.filter((one) => mayMatchIn(one, range))) {
    const { days, date, expiredMarkers, noncurrent, abortDays } = rule;
    if (range.kind === 'uploads') {
      if (abortDays !== undefined) bounds.push(calendar.after(written, abortDays));
      continue;
    }
    if (days !== undefined) bounds.push(calendar.after(written, days));
    if (date !== undefined) bounds.push(date);
    if (versioning === 'off') continue;
    if (expiredMarkers) bounds.push(dueAnyTime);
    if (noncurrent) bounds.push(calendar.after(written, noncurrent.days));
  }
  return Math.min(...bounds);
}

function mayMatchIn(rule: EnabledRule, { prefix, from, until }: KeyRange): boolean {
  if (!rule.filter.prefix.startsWith(prefix)) return false;
  return until === undefined || mayMatchBetween(rule, from ?? prefix, until);
}

/** Returns when an action may first be due for a current version, or for what deletions by clients may make current. */
export function nextDueOfCurrent(
  rules: readonly EnabledRule[],
  key: string,
  current: Pick<CurrentVersion, 'marker' | 'size' | 'lastModified' | 'olderCount'>,
  calendar: Calendar,
): number {
  const bounds = [neverDue];
  for (const rule of rules) {
    const at = rule.days === undefined ? rule.date : calendar.after(current.lastModified, rule.days);
    if (at === undefined || !key.startsWith(rule.filter.prefix)) continue;
    // Once newer versions are deleted, an old one is current again, or a delete marker the only version.
    if (current.olderCount > 0) return dueAnyTime;
    if (applies(rule, { key, marker: current.marker, size: current.size, tags: undefined })) bounds.push(at);
  }
  return Math.min(...bounds);
}

/** Returns when an action may first be due for a noncurrent version, however many newer ones follow. */
export function nextDueOfNoncurrent(
  rules: readonly EnabledRule[],
  key: string,
  { marker, size, replacedAt }: Pick<Version, 'marker' | 'size' | 'replacedAt'>,
  calendar: Calendar,
): number {
  const bounds = [neverDue];
  for (const rule of rules) {
    if (!rule.noncurrent || !applies(rule, { key, marker, size, tags: undefined })) continue;
    bounds.push(replacedAt === undefined ? dueAnyTime : calendar.after(replacedAt, rule.noncurrent.days));
  }
  return Math.min(...bounds);
}

/** Returns when an open upload is to be aborted. */
export function nextDueOfUpload(
  rules: readonly EnabledRule[],
  upload: { readonly key: string; readonly initiated: number },
  calendar: Calendar,
): number {
  return abortionOf(rules, upload, calendar)?.at ?? neverDue;
}

/** Returns when an action may first be due because of a version that came to a key with an earlier date. */
export function nextDueOfRecheck(
  rules: readonly EnabledRule[],
  { key, lastModified }: Recheck,
  calendar: Calendar,
): number {
  if (lastModified === undefined) return dueAnyTime;
  const bounds = [neverDue];
  // A `Date` is the same for every object, and a noncurrent version becomes so later.
  for (const { days, filter } of rules) {
    if (days !== undefined && key.startsWith(filter.prefix)) bounds.push(calendar.after(lastModified, days));
  }
  return Math.min(...bounds);
}
