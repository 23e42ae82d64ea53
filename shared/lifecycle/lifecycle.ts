import { day } from '../ports/durations.ts';
import { applies, type EnabledRule, type Tags } from './lifecycle-rules.ts';

/**
 * The evaluation of lifecycle rules for a key or an upload. Nothing here reads or writes: versions go in, due actions
 * come out.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/intro-lifecycle-rules.html
 */

/** A way to count days. */
export interface Calendar {
  /**
   * Returns the moment, in milliseconds since the epoch, at which something that began at `from` is this many days old.
   */
  after(from: number, days: number): number;
}

/** S3's days: whatever becomes due during a day is due at its end, 00:00 UTC. */
export const realDays: Calendar = { after: (from, days) => Math.ceil((from + days * day) / day) * day };

/** Returns a calendar whose days last this many seconds, without rounding: for tests. */
export function shortDays(seconds: number): Calendar {
  return { after: (from, days) => from + days * seconds * 1000 };
}

/** A moment, and the calendar by which things are due. */
export interface Time {
  readonly now: number;
  readonly calendar: Calendar;
}

/** The properties of a version that rules examine. Times are milliseconds since the epoch. */
export interface AgingVersion {
  readonly marker: boolean;
  readonly size: number;
  /** Undefined if not read yet: the tags are then assumed to match. */
  readonly tags: Tags | undefined;
  readonly lastModified: number;
  /** The time it became noncurrent: when its successor was created. */
  readonly replacedAt: number | undefined;
}

/** The moment at which a current version expires or an open upload is aborted, and the rule responsible. */
export interface Expiry {
  readonly at: number;
  readonly rule: EnabledRule;
}

/** Returns the earliest expiry of a current version. Of two rules with the same moment the first wins. */
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

/** Returns the rule by which a current version is due to expire, if any. A current delete marker does not expire. */
export function expiryRule(
  rules: readonly EnabledRule[],
  key: string,
  current: AgingVersion,
  { now, calendar }: Time,
): EnabledRule | undefined {
  return current.marker ? undefined : dueRule(rules, key, current, { now, calendar });
}

/**
 * Returns the rule by which a delete marker without other versions is due for removal, if any: at once where a rule
 * asks for that, otherwise at the age at which objects expire.
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
 * Returns the rule by which a noncurrent version is due to expire, if any. Delete markers count as versions.
 * @param place.newer the number of newer noncurrent versions of the key
 * @param place.successor the version that replaced it
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

/** The properties of an open upload that rules examine. Times are milliseconds since the epoch. */
interface AgingUpload {
  readonly key: string;
  readonly initiated: number;
}

/**
 * Returns the earliest moment at which an open upload may be aborted. Of two rules with the same moment the first wins.
 */
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

/** Returns the rule by which an open upload is due to be aborted, if any. */
export function abortRule(
  rules: readonly EnabledRule[],
  upload: AgingUpload,
  { now, calendar }: Time,
): EnabledRule | undefined {
  const abortion = abortionOf(rules, upload, calendar);
  return abortion && abortion.at <= now ? abortion.rule : undefined;
}
