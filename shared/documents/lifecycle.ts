import { parseIsoDate } from '../http/fields/dates.ts';
import { day } from '../ports/durations.ts';
import {
  boolean,
  checked,
  choice,
  documentType,
  elements,
  integer,
  list,
  mapped,
  one,
  oneOf,
  only,
  optional,
  parsed,
  someIfAny,
  text,
  type Content,
  type ValueOf,
} from './schema.ts';
import { tag } from './tagging.ts';
import { timestamp, utf8Length } from './text.ts';

const maximumIdLength = 255;
const maximumPrefixBytes = 1024;
const maximumNewerVersions = 100;

const id = checked(text, (value, element) => {
  if ([...value].length <= maximumIdLength) return;
  throw element.invalidArgument(`ID length should not exceed allowed limit of ${maximumIdLength}`);
});

const prefix = checked(text, (value, element) => {
  if (utf8Length(value) <= maximumPrefixBytes) return;
  throw element.invalid(`The maximum size of a prefix is ${maximumPrefixBytes}.`);
});

const size = (minimum: number): Content<number> =>
  checked(integer(), (value, element) => {
    if (value < minimum) throw element.invalid(`'${element.name}' must be at least ${minimum}.`);
  });

const days = (action: string): Content<number> =>
  checked(integer({ maximum: 2 ** 31 - 1 }), (value, element) => {
    if (value > 0) return;
    throw element.invalidArgument(`'${element.name}' for ${action} action must be a positive integer`);
  });

const date = checked(parsed(parseIsoDate, timestamp), (value, element) => {
  if (value % day !== 0) throw element.invalidArgument("'Date' must be at midnight GMT");
});

const conditions = {
  prefix: optional('Prefix', prefix),
  tags: someIfAny('Tag', tag),
  /** Bytes, exclusive. */
  greaterThan: optional('ObjectSizeGreaterThan', size(0)),
  lessThan: optional('ObjectSizeLessThan', size(1)),
};

const range = <Value extends { readonly greaterThan?: number; readonly lessThan?: number }>(content: Content<Value>) =>
  checked(content, ({ greaterThan, lessThan }, element) => {
    if (greaterThan === undefined || lessThan === undefined || lessThan > greaterThan) return;
    throw element.invalid("'ObjectSizeLessThan' has to be a value greater than 'ObjectSizeGreaterThan'");
  });

const and = checked(range(elements(conditions)), (_, element) => {
  if (element.children.length === 0) throw element.fault('And must not be empty');
});

const filter = checked(elements({ ...conditions, and: optional('And', and) }), (_, element) => {
  if (element.children.length > 1) throw element.fault('a Filter must have at most one element; use And for several');
});

const newerVersions = checked(integer(), (value, element) => {
  if (value >= 1 && value <= maximumNewerVersions) return;
  throw element.invalidArgument(
    `'NewerNoncurrentVersions' must be a positive integer of at most ${maximumNewerVersions}`,
  );
});

const abort = 'AbortIncompleteMultipartUpload';
const noncurrent = 'NoncurrentVersionExpiration';
const written = elements({
  id: optional('ID', id),
  prefix: optional('Prefix', prefix),
  filter: optional('Filter', filter),
  status: one('Status', oneOf('Enabled', 'Disabled')),
  expiration: optional(
    'Expiration',
    choice({
      days: one('Days', days('Expiration')),
      /** Milliseconds since the epoch. */
      date: one('Date', date),
      expiredObjectDeleteMarker: one('ExpiredObjectDeleteMarker', boolean),
    }),
  ),
  noncurrent: optional(
    noncurrent,
    elements({
      days: one('NoncurrentDays', days(noncurrent)),
      newerVersions: optional('NewerNoncurrentVersions', newerVersions),
    }),
  ),
  /** Days after which an open upload is aborted. */
  abortDays: optional(abort, only('DaysAfterInitiation', days(abort))),
});
type Written = ValueOf<typeof written>;

/** Refuses transitions before anything else. */
const withoutTransitions: Content<Written> = {
  read: (element) => {
    const found = element.children.find(({ name }) => name === 'Transition' || name === 'NoncurrentVersionTransition');
    if (found === undefined) return written.read(element);
    throw element.refusal('NotImplemented', `${found.name} is not implemented: there is only one storage class.`);
  },
  write: written.write,
};

/** The scope of a rule, in the form the client used, which GET returns. */
export type LifecycleScope = Omit<NonNullable<Written['filter']>, 'and'> & {
  /** `prefix`: directly in the rule, as in the first version of the API. `filter`: in `Filter`. `and`: in its `And`. */
  readonly form: 'prefix' | 'filter' | 'and';
};

/** The expiration of a rule. */
export type LifecycleExpiration = NonNullable<Written['expiration']>;

/** A rule as clients send it, maybe without an id. */
export type UnnamedRule = Omit<Written, 'prefix' | 'filter'> & { readonly scope: LifecycleScope };

/**
 * A lifecycle rule as GET returns it and the table stores it:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_LifecycleRule.html
 */
export type LifecycleRule = UnnamedRule & { readonly id: string };

const rule = mapped(
  checked(withoutTransitions, (value, element) => {
    if (value.prefix !== undefined && value.filter !== undefined) {
      throw element.fault('a Rule must not have both Prefix and Filter');
    }
    if (value.prefix === undefined && value.filter === undefined) throw element.fault('a Rule must have a Filter');
    if (!value.expiration && !value.noncurrent && value.abortDays === undefined) {
      throw element.invalid('At least one action needs to be specified in a rule.');
    }
    const contradiction = contradictionIn(value);
    if (contradiction !== undefined) throw element.invalid(contradiction);
  }),
  ({ id, status, prefix, filter: { and, ...filter } = {}, ...actions }): UnnamedRule => ({
    ...(id !== undefined && { id }),
    status,
    scope: and
      ? { form: 'and', ...and }
      : prefix === undefined
        ? { form: 'filter', ...filter }
        : { form: 'prefix', prefix },
    ...actions,
  }),
  ({ scope: { form, ...scope }, ...others }) => ({
    ...others,
    ...(form === 'prefix' ? { prefix: scope.prefix ?? '' } : { filter: form === 'and' ? { and: scope } : scope }),
  }),
);

/** Says why conditions cannot apply: delete markers and uploads have neither tags nor a size. */
function contradictionIn({ filter = {}, expiration, abortDays }: Written): string | undefined {
  const { tags, greaterThan, lessThan } = filter.and ?? filter;
  const actions = [
    ...(expiration && 'expiredObjectDeleteMarker' in expiration ? ['ExpiredObjectDeleteMarker'] : []),
    ...(abortDays === undefined ? [] : [abort]),
  ];
  const condition =
    tags !== undefined ? 'Tags' : greaterThan !== undefined || lessThan !== undefined ? 'object sizes' : undefined;
  return actions[0] && condition && `${actions[0]} cannot be specified with ${condition}.`;
}

/** The lifecycle rules of a bucket: https://docs.aws.amazon.com/AmazonS3/latest/userguide/intro-lifecycle-rules.html */
export const lifecycle = documentType('LifecycleConfiguration', list('Rule', rule, 1));
