import { createHash } from 'node:crypto';
import { invalidArgument, S3Error } from '../errors/s3-error.ts';
import type { LifecycleExpiration, LifecycleRule, LifecycleScope } from '../metadata/lifecycle/lifecycle-document.ts';
import { day } from '../ports/durations.ts';
import { atOnce } from '../ports/event-loop.ts';
import { readDocument, type XmlElement, type XmlSource } from './reader.ts';
import { checkTags, readTag, type TagLimits } from './tagging.ts';
import { document, element, timestamp, type Markup, type XmlElements } from './writer.ts';

const maximumIdLength = 255;
const maximumPrefixBytes = 1024;
const maximumNewerVersions = 100;
const maximumDays = 2 ** 31 - 1;

/** The limits and rules for reading a configuration. */
export interface LifecycleReading {
  /** The maximum number of rules. */
  readonly maximumRules: number;
  /** The limits for the tags of a filter. */
  readonly tags: TagLimits;
  /** Parses an ISO 8601 date into milliseconds since the epoch. */
  parseTime(this: void, text: string): number | undefined;
}

/** The steps of reading a rule and of giving it an id: microseconds, as an event-loop budget counts them. */
const stepsPerRule = 16;
const stepsPerId = 8;
/** The steps of writing a rule, and each of its tags. */
const stepsToWrite = 4;
const stepsPerTag = 2;

/** Reads a small `<LifecycleConfiguration>` in one go: see {@link lifecycleParsing}. */
export function readLifecycleConfiguration(body: XmlSource, reading: LifecycleReading): readonly LifecycleRule[] {
  return atOnce(lifecycleParsing(body, reading));
}

/**
 * Reads `<LifecycleConfiguration>`, yielding the steps taken. Rules without an id get one.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/intro-lifecycle-rules.html
 *
 * @throws S3Error MalformedXML, InvalidArgument, InvalidRequest, InvalidTag, NotImplemented (transitions)
 */
export function* lifecycleParsing(
  body: XmlSource,
  reading: LifecycleReading,
): Generator<number, readonly LifecycleRule[], void> {
  const root = readDocument(body, 'LifecycleConfiguration').onlyChildren('Rule');
  const elements = root.many('Rule');
  if (elements.length === 0) throw root.fault('there must be a Rule');
  const { maximumRules } = reading;
  if (elements.length > maximumRules) throw root.fault(`there may be at most ${maximumRules} rules`);
  const rules: UnnamedRule[] = [];
  for (const element of elements) {
    rules.push(readRule(element, reading));
    yield stepsPerRule;
  }
  return yield* withIds(rules);
}

/** A rule whose id may still be missing. */
type UnnamedRule = Omit<LifecycleRule, 'id'> & { readonly id: string | undefined };

function readRule(rule: XmlElement, { parseTime, tags }: LifecycleReading): UnnamedRule {
  refuseTransitions(rule);
  rule.onlyChildren(
    'ID',
    'Status',
    'Prefix',
    'Filter',
    'Expiration',
    'NoncurrentVersionExpiration',
    'AbortIncompleteMultipartUpload',
  );
  const id = rule.optional('ID')?.text;
  if (id !== undefined && [...id].length > maximumIdLength) {
    throw invalidArgument('ID', id, `ID length should not exceed allowed limit of ${maximumIdLength}`);
  }
  const status = rule.one('Status').choice('Enabled', 'Disabled');
  const scope = readScope(rule, tags);
  const expiration = rule.optional('Expiration');
  const noncurrent = rule.optional('NoncurrentVersionExpiration');
  const abort = rule.optional('AbortIncompleteMultipartUpload');
  if (!expiration && !noncurrent && !abort) {
    throw new S3Error('InvalidRequest', { message: 'At least one action needs to be specified in a rule.' });
  }
  const read = {
    id,
    status,
    scope,
    ...(expiration && { expiration: readExpiration(expiration, parseTime) }),
    ...(noncurrent && { noncurrent: readNoncurrent(noncurrent) }),
    ...(abort && { abortDays: readDays(abort.onlyChildren('DaysAfterInitiation'), 'DaysAfterInitiation') }),
  };
  refuseContradictions(read);
  return read;
}

function refuseTransitions(rule: XmlElement): void {
  const found = ['Transition', 'NoncurrentVersionTransition'].find((name) => rule.many(name).length > 0);
  if (found === undefined) return;
  throw new S3Error('NotImplemented', { message: `${found} is not implemented: there is only one storage class.` });
}

function readScope(rule: XmlElement, tags: TagLimits): LifecycleScope {
  const prefix = rule.optional('Prefix');
  const filter = rule.optional('Filter');
  if (prefix && filter) throw rule.fault('a Rule must not have both Prefix and Filter');
  if (prefix) return { form: 'prefix', prefix: readPrefix(prefix) };
  if (!filter) throw rule.fault('a Rule must have a Filter');
  filter.onlyChildren('Prefix', 'Tag', 'ObjectSizeGreaterThan', 'ObjectSizeLessThan', 'And');
  const and = filter.optional('And');
  // Clients of Ceph RGW omit And around a prefix and one other condition.
  const others = filter.children.length - (and ? 0 : filter.many('Prefix').length);
  if (others > 1) throw filter.fault('a Filter must have at most one condition besides Prefix; use And for several');
  if (!and) return { form: 'filter', ...readConditions(filter, tags) };
  and.onlyChildren('Prefix', 'Tag', 'ObjectSizeGreaterThan', 'ObjectSizeLessThan');
  if (and.children.length === 0) throw and.fault('And must not be empty');
  return { form: 'and', ...readConditions(and, tags) };
}

function readConditions(element: XmlElement, limits: TagLimits): Omit<LifecycleScope, 'form'> {
  const prefix = element.optional('Prefix');
  const tags = element.many('Tag').map(readTag);
  checkTags(tags, limits);
  const greaterThan = element.optional('ObjectSizeGreaterThan');
  const lessThan = element.optional('ObjectSizeLessThan');
  const scope = {
    ...(prefix && { prefix: readPrefix(prefix) }),
    ...(tags.length > 0 && { tags }),
    ...(greaterThan && { greaterThan: readSize(greaterThan, 0) }),
    ...(lessThan && { lessThan: readSize(lessThan, 1) }),
  };
  if (scope.greaterThan !== undefined && scope.lessThan !== undefined && scope.lessThan <= scope.greaterThan) {
    throw new S3Error('InvalidRequest', {
      message: "'ObjectSizeLessThan' has to be a value greater than 'ObjectSizeGreaterThan'",
    });
  }
  return scope;
}

function readPrefix(element: XmlElement): string {
  const prefix = element.text;
  if (Buffer.byteLength(prefix) <= maximumPrefixBytes) return prefix;
  throw new S3Error('InvalidRequest', { message: `The maximum size of a prefix is ${maximumPrefixBytes}.` });
}

function readSize(element: XmlElement, minimum: number): number {
  const size = element.integer();
  if (size >= minimum) return size;
  throw new S3Error('InvalidRequest', { message: `'${element.name}' must be at least ${minimum}.` });
}

function readExpiration(expiration: XmlElement, parseTime: (text: string) => number | undefined): LifecycleExpiration {
  expiration.onlyChildren('Days', 'Date', 'ExpiredObjectDeleteMarker');
  if (expiration.children.length !== 1) {
    throw expiration.fault('Expiration must have one of Days, Date and ExpiredObjectDeleteMarker');
  }
  const date = expiration.optional('Date');
  if (date) return { date: readDate(date, parseTime) };
  const marker = expiration.optional('ExpiredObjectDeleteMarker');
  if (marker) return { expiredObjectDeleteMarker: marker.boolean() };
  return { days: readDays(expiration, 'Days') };
}

function readDate(date: XmlElement, parseTime: (text: string) => number | undefined): number {
  const time = date.parsed(parseTime);
  if (time % day !== 0) throw invalidArgument('Date', date.text, "'Date' must be at midnight GMT");
  return time;
}

function readDays(action: XmlElement, name: string): number {
  const element = action.one(name);
  const days = element.integer({ maximum: maximumDays });
  if (days > 0) return days;
  throw invalidArgument(name, element.text, `'${name}' for ${action.name} action must be a positive integer`);
}

function readNoncurrent(action: XmlElement): { days: number; newerVersions?: number } {
  action.onlyChildren('NoncurrentDays', 'NewerNoncurrentVersions');
  const days = readDays(action, 'NoncurrentDays');
  const newer = action.optional('NewerNoncurrentVersions');
  if (newer === undefined) return { days };
  const newerVersions = newer.integer();
  if (newerVersions >= 1 && newerVersions <= maximumNewerVersions) return { days, newerVersions };
  const message = `'NewerNoncurrentVersions' must be a positive integer of at most ${maximumNewerVersions}`;
  throw invalidArgument('NewerNoncurrentVersions', newer.text, message);
}

/** Rejects conditions that cannot apply: delete markers and uploads have neither tags nor a size. */
function refuseContradictions({ scope, expiration, abortDays }: UnnamedRule): void {
  const { tags, greaterThan, lessThan } = scope;
  const bySize = greaterThan !== undefined || lessThan !== undefined;
  const marker = expiration !== undefined && 'expiredObjectDeleteMarker' in expiration;
  const said = [
    ...(marker && tags ? ['ExpiredObjectDeleteMarker cannot be specified with Tags.'] : []),
    ...(marker && bySize ? ['ExpiredObjectDeleteMarker cannot be specified with object sizes.'] : []),
    ...(abortDays !== undefined && tags ? ['AbortIncompleteMultipartUpload cannot be specified with Tags.'] : []),
    ...(abortDays !== undefined && bySize
      ? ['AbortIncompleteMultipartUpload cannot be specified with object sizes.']
      : []),
  ];
  if (said[0] !== undefined) throw new S3Error('InvalidRequest', { message: said[0] });
}

/** Assigns ids to rules without one. Deterministic, so that a configuration sent twice stays the same. */
function* withIds(rules: readonly UnnamedRule[]): Generator<number, readonly LifecycleRule[], void> {
  const taken = new Set<string>();
  for (const { id } of rules) {
    if (!id) continue;
    if (taken.has(id)) {
      throw invalidArgument('ID', id, 'Rule ID must be unique. Found same ID for more than one rule');
    }
    taken.add(id);
  }
  /** The number of ids tried for rules with the same content. */
  const attempts = new Map<string, number>();
  const newId = (rule: UnnamedRule): string => {
    const said = JSON.stringify(rule);
    for (let attempt = attempts.get(said) ?? 0; ; attempt += 1) {
      attempts.set(said, attempt + 1);
      const id = createHash('sha256')
        .update(JSON.stringify([rule, attempt]))
        .digest('base64url');
      if (taken.has(id)) continue;
      taken.add(id);
      return id;
    }
  };
  const named: LifecycleRule[] = [];
  for (const rule of rules) {
    named.push({ ...rule, id: rule.id ? rule.id : newId(rule) });
    yield stepsPerId;
  }
  return named;
}

/** Writes rules, yielding the steps taken, for {@link lifecycleConfiguration}. */
export function* lifecycleWriting(rules: readonly LifecycleRule[]): Generator<number, readonly Markup[], void> {
  const written: Markup[] = [];
  for (const rule of rules) {
    written.push(element('Rule', ruleContent(rule)));
    yield stepsToWrite + stepsPerTag * (rule.scope.tags?.length ?? 0);
  }
  return written;
}

/** Returns the response body of GetBucketLifecycleConfiguration. */
export function lifecycleConfiguration(rules: readonly Markup[], namespace: string): string {
  return document('LifecycleConfiguration', namespace, rules);
}

function ruleContent({ id, status, scope, expiration, noncurrent, abortDays }: LifecycleRule): XmlElements {
  return {
    ID: id,
    ...scopeContent(scope),
    Status: status,
    Expiration: expiration && expirationContent(expiration),
    NoncurrentVersionExpiration: noncurrent && {
      NoncurrentDays: noncurrent.days,
      NewerNoncurrentVersions: noncurrent.newerVersions,
    },
    AbortIncompleteMultipartUpload: abortDays === undefined ? undefined : { DaysAfterInitiation: abortDays },
  };
}

function scopeContent({ form, prefix, tags, greaterThan, lessThan }: LifecycleScope): XmlElements {
  if (form === 'prefix') return { Prefix: prefix ?? '' };
  const conditions = {
    Prefix: prefix,
    Tag: tags?.map(({ key, value }) => ({ Key: key, Value: value })),
    ObjectSizeGreaterThan: greaterThan,
    ObjectSizeLessThan: lessThan,
  };
  return { Filter: form === 'and' ? { And: conditions } : conditions };
}

function expirationContent(expiration: LifecycleExpiration): XmlElements {
  if ('days' in expiration) return { Days: expiration.days };
  if ('date' in expiration) return { Date: timestamp(expiration.date) };
  return { ExpiredObjectDeleteMarker: expiration.expiredObjectDeleteMarker };
}
