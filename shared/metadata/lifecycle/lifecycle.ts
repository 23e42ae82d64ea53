import { day } from '../../ports/durations.ts';
import { applies, type EnabledRule, type Tags } from './lifecycle-rules.ts';

/**
 * What lifecycle rules say of a key and of an upload. Nothing here reads or writes: versions go in, and what is due comes out.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/intro-lifecycle-rules.html
 */

/** How days are counted. */
export interface Calendar {
  /** When something that began then is so many days old, in milliseconds since the epoch. */
  after(from: number, days: number): number;
}

/** S3's days: what is due within a day is due at its end, 00:00 UTC. */
export const realDays: Calendar = { after: (from, days) => Math.ceil((from + days * day) / day) * day };

/** Days of so many seconds, without rounding: for tests. */
export function shortDays(seconds: number): Calendar {
  return { after: (from, days) => from + days * seconds * 1000 };
}

/** What is due is due at a moment, by a calendar. */
export interface Time {
  readonly now: number;
  readonly calendar: Calendar;
}

/** A version as rules look at it. Times are milliseconds since the epoch. */
export interface AgingVersion {
  readonly marker: boolean;
  readonly size: number;
  /** Undefined: not read yet. Whatever a rule asks for counts as there then. */
  readonly tags: Tags | undefined;
  readonly lastModified: number;
  /** When it stopped being current: when its successor came. */
  readonly replacedAt: number | undefined;
}

/** When the current version of a key expires, or an open upload is aborted, and by which rule. */
export interface Expiry {
  readonly at: number;
  readonly rule: EnabledRule;
}

/** The earliest moment at which any of the rules lets a current version expire. Of two rules of one moment the first has it. */
export function expiryOf(
  rules: readonly EnabledRule[],
  key: string,
  version: Omit<AgingVersion, 'replacedAt'>,
  calendar: Calendar,
): Expiry | undefined {
  let earliest: Expiry | undefined;
  for (const rule of rules) {
    const at = rule.days === undefined ? rule.date : calendar.after(version.lastModified, rule.days);
    if (at === undefined || (earliest && earliest.at <= at)) continue;
    if (applies(rule, { key, ...version })) earliest = { at, rule };
  }
  return earliest;
}

/** The rule by which a current version is due to expire, if there is one. Where a delete marker is current nothing expires. */
export function expiryRule(
  rules: readonly EnabledRule[],
  key: string,
  current: AgingVersion,
  { now, calendar }: Time,
): EnabledRule | undefined {
  return current.marker ? undefined : dueRule(rules, key, current, { now, calendar });
}

/**
 * The rule by which a delete marker that is all there is of its key is due to go, if there is one: at once where a rule asks for that, else
 * when it is as old as objects may get.
 */
export function expiredMarkerRule(
  rules: readonly EnabledRule[],
  key: string,
  marker: AgingVersion,
  { now, calendar }: Time,
): EnabledRule | undefined {
  const rule = rules.find((one) => one.expiredMarkers && applies(one, { key, ...marker }));
  return rule ?? dueRule(rules, key, marker, { now, calendar });
}

/**
 * The rule by which a non-current version is due to go, if there is one. Delete markers are versions like others.
 * @param place.newer how many non-current versions of the key are newer
 * @param place.successor the version that took its place
 */
export function noncurrentRule(
  rules: readonly EnabledRule[],
  key: string,
  version: AgingVersion,
  { newer, successor }: { readonly newer: number; readonly successor: Pick<AgingVersion, 'lastModified'> },
  { now, calendar }: Time,
): EnabledRule | undefined {
  const since = version.replacedAt ?? successor.lastModified;
  return rules.find(
    (rule) =>
      rule.noncurrent !== undefined &&
      newer >= rule.noncurrent.keep &&
      calendar.after(since, rule.noncurrent.days) <= now &&
      applies(rule, { key, ...version }),
  );
}

function dueRule(
  rules: readonly EnabledRule[],
  key: string,
  version: AgingVersion,
  { now, calendar }: Time,
): EnabledRule | undefined {
  const expiry = expiryOf(rules, key, version, calendar);
  return expiry && expiry.at <= now ? expiry.rule : undefined;
}

/** An open upload as rules look at it. Times are milliseconds since the epoch. */
interface AgingUpload {
  readonly key: string;
  readonly initiated: number;
}

/** The earliest moment at which any of the rules lets an open upload be aborted. Of two rules of one moment the first has it. */
export function abortionOf(
  rules: readonly EnabledRule[],
  { key, initiated }: AgingUpload,
  calendar: Calendar,
): Expiry | undefined {
  let earliest: Expiry | undefined;
  for (const rule of rules) {
    if (rule.abortDays === undefined || !key.startsWith(rule.filter.prefix)) continue;
    const at = calendar.after(initiated, rule.abortDays);
    if (!earliest || at < earliest.at) earliest = { at, rule };
  }
  return earliest;
}

/** The rule by which an open upload is due to be aborted, if there is one. */
export function abortRule(
  rules: readonly EnabledRule[],
  upload: AgingUpload,
  { now, calendar }: Time,
): EnabledRule | undefined {
  const abortion = abortionOf(rules, upload, calendar);
  return abortion && abortion.at <= now ? abortion.rule : undefined;
}
