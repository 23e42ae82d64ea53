import type { LifecycleRule } from '../documents/lifecycle.ts';
import type { Attributes } from '../ports/key-value-table.ts';
import { compareUtf8 } from '../ports/utf8-order.ts';
import { decodeLifecycleRules } from './lifecycle-document.ts';

/** An enabled rule of a bucket, ready to be applied. Times are milliseconds since the epoch. */
export interface EnabledRule {
  readonly id: string;
  readonly filter: LifecycleFilter;
  /** Days after which the current version expires. */
  readonly days: number | undefined;
  /** The moment at which current versions expire; versions that become current later expire at once. */
  readonly date: number | undefined;
  /** Removes a delete marker once no other version of its key is left. */
  readonly expiredMarkers: boolean;
  /** Days after which a noncurrent version expires, and how many of a key's newest noncurrent versions to keep. */
  readonly noncurrent: { readonly days: number; readonly keep: number } | undefined;
  /** Days after which an open upload is aborted. */
  readonly abortDays: number | undefined;
}

export type Tags = readonly (readonly [key: string, value: string])[];

/** The conditions for a rule to apply; an object must meet all of them. */
interface LifecycleFilter {
  readonly prefix: string;
  readonly tags: Tags;
  /** Bytes, exclusive. */
  readonly greaterThan: number | undefined;
  readonly lessThan: number | undefined;
}

/** The properties that a filter examines. */
export interface Filtered {
  readonly key: string;
  readonly marker: boolean;
  readonly size: number;
  /** Undefined if not read yet: the tags are then assumed to match. */
  readonly tags: Tags | undefined;
}

/** Documents never change, and the same object is returned again and again. */
const decoded = new WeakMap<Attributes, readonly EnabledRule[]>();

/** Returns the enabled rules of a bucket's document `lifecycle`. @throws DamagedItem */
export function enabledRules(document: Attributes): readonly EnabledRule[] {
  const known = decoded.get(document);
  if (known) return known;
  const rules = decodeLifecycleRules(document)
    .filter(({ status }) => status === 'Enabled')
    .map(enabledRule);
  decoded.set(document, rules);
  return rules;
}

function enabledRule({ id, scope, expiration, noncurrent, abortDays }: LifecycleRule): EnabledRule {
  return {
    id,
    filter: {
      prefix: scope.prefix ?? '',
      tags: (scope.tags ?? []).map(({ key, value }) => [key, value] as const),
      greaterThan: scope.greaterThan,
      lessThan: scope.lessThan,
    },
    days: expiration && 'days' in expiration ? expiration.days : undefined,
    date: expiration && 'date' in expiration ? expiration.date : undefined,
    expiredMarkers:
      expiration !== undefined && 'expiredObjectDeleteMarker' in expiration && expiration.expiredObjectDeleteMarker,
    noncurrent: noncurrent && { days: noncurrent.days, keep: noncurrent.newerVersions ?? 0 },
    abortDays,
  };
}

/**
 * Returns whether a rule applies. A delete marker has neither size nor tags, so a filter by these never matches one.
 */
export function applies({ filter }: EnabledRule, { key, marker, size, tags }: Filtered): boolean {
  const { prefix, greaterThan, lessThan } = filter;
  if (!key.startsWith(prefix)) return false;
  const bySize = greaterThan !== undefined || lessThan !== undefined;
  if (marker) return !bySize && filter.tags.length === 0;
  if (greaterThan !== undefined && size <= greaterThan) return false;
  if (lessThan !== undefined && size >= lessThan) return false;
  return tags === undefined || filter.tags.every(([name, value]) => hasTag(tags, name, value));
}

function hasTag(tags: Tags, name: string, value: string): boolean {
  return tags.some(([key, found]) => key === name && found === value);
}

/** Returns whether a rule can apply to any key from `first` to `last`. */
export function mayMatchBetween({ filter: { prefix } }: EnabledRule, first: string, last: string): boolean {
  return compareUtf8(prefix, last) <= 0 && (compareUtf8(first, prefix) <= 0 || first.startsWith(prefix));
}

/** Returns the prefixes that cover everything the rules may match; none of them begins with another. */
export function coveredPrefixes(rules: readonly EnabledRule[]): readonly string[] {
  const prefixes = [...new Set(rules.map(({ filter }) => filter.prefix))].sort((a, b) => a.length - b.length);
  const covered: string[] = [];
  for (const prefix of prefixes) if (!covered.some((shorter) => prefix.startsWith(shorter))) covered.push(prefix);
  return covered;
}
