import type { LifecycleExpiration, LifecycleRule, LifecycleScope } from '../documents/lifecycle.ts';
import type { Attributes, Stored } from '../ports/key-value-table.ts';
import { StoredReader } from '../storage/table/stored-reader.ts';

/** A bucket's document `lifecycle`. */
export interface LifecycleDocument {
  readonly rules: readonly LifecycleRule[];
  /** The value of `x-amz-transition-default-minimum-object-size`. */
  readonly minimumSize: string;
}

/** Encodes a bucket's document `lifecycle`. */
export function encodeLifecycle(lifecycle: LifecycleDocument): Attributes {
  const stored: Stored<LifecycleDocument> = lifecycle;
  return stored;
}

/** Decodes a bucket's document `lifecycle`. @throws DamagedItem */
export function decodeLifecycle(document: Attributes): LifecycleDocument {
  const minimumSize = new StoredReader(document, 'lifecycle').text('minimumSize');
  return { rules: decodeLifecycleRules(document), minimumSize };
}

/** Decodes the rules of a bucket's document `lifecycle`. @throws DamagedItem */
export function decodeLifecycleRules(document: Attributes): readonly LifecycleRule[] {
  return new StoredReader(document, 'lifecycle').maps('rules').map(decodeRule);
}

function decodeRule(rule: StoredReader): LifecycleRule {
  const expiration = rule.optionalMap('expiration');
  const noncurrent = rule.optionalMap('noncurrent');
  const abortDays = rule.optionalNumber('abortDays');
  return {
    id: rule.text('id'),
    status: rule.choice('status', ['Enabled', 'Disabled']),
    scope: decodeScope(rule.map('scope')),
    ...(expiration && { expiration: decodeExpiration(expiration) }),
    ...(noncurrent && { noncurrent: decodeNoncurrent(noncurrent) }),
    ...(abortDays !== undefined && { abortDays }),
  };
}

function decodeScope(scope: StoredReader): LifecycleScope {
  const prefix = scope.optionalText('prefix');
  const tags = scope.optionalMaps('tags')?.map((tag) => ({ key: tag.text('key'), value: tag.text('value') }));
  const greaterThan = scope.optionalNumber('greaterThan');
  const lessThan = scope.optionalNumber('lessThan');
  const conditions = {
    ...(prefix !== undefined && { prefix }),
    ...(tags && { tags }),
    ...(greaterThan !== undefined && { greaterThan }),
    ...(lessThan !== undefined && { lessThan }),
  };
  const form = scope.choice('form', ['prefix', 'filter', 'and']);
  // Versions up to 0.2 accepted a prefix beside one other condition, which clients could not send back now.
  return { form: form === 'filter' && Object.keys(conditions).length > 1 ? 'and' : form, ...conditions };
}

function decodeExpiration(expiration: StoredReader): LifecycleExpiration {
  if (expiration.has('days')) return { days: expiration.number('days') };
  if (expiration.has('date')) return { date: expiration.number('date') };
  return { expiredObjectDeleteMarker: expiration.boolean('expiredObjectDeleteMarker') };
}

function decodeNoncurrent(noncurrent: StoredReader): NonNullable<LifecycleRule['noncurrent']> {
  const newerVersions = noncurrent.optionalNumber('newerVersions');
  return { days: noncurrent.number('days'), ...(newerVersions !== undefined && { newerVersions }) };
}
