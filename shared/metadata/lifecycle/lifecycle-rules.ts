import type { Attributes } from '../../ports/key-value-table.ts';
import { compareUtf8 } from '../../ports/utf8-order.ts';
import { decodeLifecycleRules, type LifecycleRule } from './lifecycle-document.ts';

/** An enabled rule of a bucket, ready to be applied. Times are milliseconds since the epoch. */
export interface EnabledRule {
  readonly id: string;
  readonly filter: LifecycleFilter;
  /** Days after which the current version expires. */
  readonly days: number | undefined;
  /** The moment at which current versions expire, and whatever becomes current later. */
  readonly date: number | undefined;
  /** Whether a delete marker goes once it is all that is left of its key. */
  readonly expiredMarkers: boolean;
  /** Days after which a non-current version goes, and how many of a key's newest ones stay all the same. */
  readonly noncurrent: { readonly days: number; readonly keep: number } | undefined;
  /** Days after which an upload that is still open is aborted. */
  readonly abortDays: number | undefined;
}

export type Tags = readonly (readonly [key: string, value: string])[];

/** What holds of an object for a rule to apply: all of it. */
interface LifecycleFilter {
  readonly prefix: string;
  readonly tags: Tags;
  /** Bytes, exclusive. */
  readonly greaterThan: number | undefined;
  readonly lessThan: number | undefined;
}

/** What a filter looks at. */
export interface Filtered {
  readonly key: string;
  readonly marker: boolean;
  readonly size: number;
  /** Undefined: not read yet. A filter is taken to find what it asks for then. */
  readonly tags: Tags | undefined;
}

/** Documents never change, and the same one is given out again and again. */
const decoded = new WeakMap<Attributes, readonly EnabledRule[]>();

/** The enabled rules of a bucket's document `lifecycle`. @throws DamagedItem */
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

/** Whether a rule applies. A delete marker has neither size nor tags, so what asks for these never finds one. */
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

/** Whether a rule can apply to any key from `first` to `last`. */
export function mayMatchBetween({ filter: { prefix } }: EnabledRule, first: string, last: string): boolean {
  return compareUtf8(prefix, last) <= 0 && (compareUtf8(first, prefix) <= 0 || first.startsWith(prefix));
}

/** The prefixes under which any of the rules may find anything: none of them begins with another. */
export function coveredPrefixes(rules: readonly EnabledRule[]): readonly string[] {
  const prefixes = [...new Set(rules.map(({ filter }) => filter.prefix))].sort((a, b) => a.length - b.length);
  const covered: string[] = [];
  for (const prefix of prefixes) if (!covered.some((shorter) => prefix.startsWith(shorter))) covered.push(prefix);
  return covered;
}
