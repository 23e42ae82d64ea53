import type { XmlElement } from './element.ts';
import { checked, documentType, elements, many, mapped, one, optional, some, text, type Content } from './schema.ts';
import { utf8Length } from './text.ts';

/** The events that can be configured, by their kind: the part before the colon. */
const events = {
  ObjectCreated: ['Put', 'Post', 'Copy', 'CompleteMultipartUpload'],
  ObjectRemoved: ['Delete', 'DeleteMarkerCreated'],
  ObjectTagging: ['Put', 'Delete'],
  ObjectAcl: ['Put'],
  LifecycleExpiration: ['Delete', 'DeleteMarkerCreated'],
} as const;
type Events = typeof events;

/** What happened to an object, as records name it. */
export type EventName = { [Kind in keyof Events]: `${Kind}:${Events[Kind][number]}` }[keyof Events];

/** The names that rules may have: of an event, or `*` for all of a kind. S3 has no `s3:ObjectAcl:*`. */
const names: ReadonlySet<string> = new Set(
  Object.entries(events).flatMap(([kind, all]) => [
    ...(all.length > 1 ? [`s3:${kind}:*`] : []),
    ...all.map((event) => `s3:${kind}:${event}`),
  ]),
);

const maximumIdLength = 255;
const maximumValueBytes = 1024;

/** The elements of a rule, and of the name of its target in them. */
const vias = { Topic: 'TopicConfiguration', Queue: 'QueueConfiguration', CloudFunction: 'CloudFunctionConfiguration' };
type Via = keyof typeof vias;

/** A rule as clients send it, maybe without an id. */
export interface UnnamedNotificationRule {
  readonly id?: string;
  readonly via: Via;
  /** The ARN of the target. */
  readonly target: string;
  /** `s3:ObjectCreated:*` */
  readonly events: readonly string[];
  readonly prefix?: string;
  readonly suffix?: string;
}

/** A rule as GET returns it and the table stores it. */
export interface NotificationRule extends UnnamedNotificationRule {
  readonly id: string;
}

/** The rules of a bucket. */
export interface NotificationConfiguration<Rule extends UnnamedNotificationRule = UnnamedNotificationRule> {
  readonly rules: readonly Rule[];
  readonly eventBridge: boolean;
}

const id = checked(text, (value, element) => {
  if ([...value].length > maximumIdLength) {
    throw element.invalidArgument(`ID length should not exceed allowed limit of ${maximumIdLength}`);
  }
});

const event = checked(text, (value, element) => {
  if (!names.has(value)) throw element.invalidArgument('A specified event is not supported for notifications.');
});

const filterName: Content<string> = mapped(
  checked(text, (value, element) => {
    if (/^(?:prefix|suffix)$/i.test(value)) return;
    throw element.invalidArgument('filter rule name must be either prefix or suffix');
  }),
  // S3 takes any case.
  (value) => value.toLowerCase(),
  (value) => value,
);

const filterValue = checked(text, (value, element) => {
  if (utf8Length(value) <= maximumValueBytes) return;
  throw element.invalidArgument('Size of filter rule value cannot exceed 1024 bytes in UTF-8 representation');
});

const filterRules = checked(
  elements({
    rules: many('FilterRule', elements({ name: one('Name', filterName), value: one('Value', filterValue) })),
  }),
  ({ rules }, element) => {
    for (const each of ['prefix', 'suffix']) {
      if (rules.filter(({ name }) => name === each).length < 2) continue;
      throw element.invalidArgument(`Cannot specify more than one ${each} rule in a filter.`, 'FilterRule', each);
    }
  },
);

type Filter = Pick<UnnamedNotificationRule, 'prefix' | 'suffix'>;

const filter: Content<Filter> = mapped(
  elements({ key: optional('S3Key', filterRules) }),
  ({ key }) => Object.fromEntries((key?.rules ?? []).map(({ name, value }) => [name, value])),
  (read) => ({
    key: { rules: Object.entries(read).map(([name, value]) => ({ name, value })) },
  }),
);

const ruleOf = (via: Via): Content<UnnamedNotificationRule> =>
  mapped(
    elements({
      id: optional('Id', id),
      target: one(via, text),
      events: some('Event', event),
      filter: optional('Filter', filter),
    }),
    ({ filter: conditions, ...rule }) => ({ ...rule, via, ...conditions }),
    ({ id: named, target, events: on, prefix, suffix }) => ({
      ...(named !== undefined && { id: named }),
      target,
      events: on,
      ...((prefix !== undefined || suffix !== undefined) && {
        filter: { ...(prefix !== undefined && { prefix }), ...(suffix !== undefined && { suffix }) },
      }),
    }),
  );

const written = elements({
  topics: many(vias.Topic, ruleOf('Topic')),
  queues: many(vias.Queue, ruleOf('Queue')),
  functions: many(vias.CloudFunction, ruleOf('CloudFunction')),
  eventBridge: optional('EventBridgeConfiguration', elements({})),
});

/**
 * What happens in a bucket and who is told: https://docs.aws.amazon.com/AmazonS3/latest/API/API_NotificationConfiguration.html
 */
export const notification = documentType(
  'NotificationConfiguration',
  checked(
    mapped(
      written,
      ({ topics, queues, functions, eventBridge }): NotificationConfiguration => ({
        rules: [...topics, ...queues, ...functions],
        eventBridge: eventBridge !== undefined,
      }),
      ({ rules, eventBridge }) => ({
        topics: rules.filter(({ via }) => via === 'Topic'),
        queues: rules.filter(({ via }) => via === 'Queue'),
        functions: rules.filter(({ via }) => via === 'CloudFunction'),
        ...(eventBridge && { eventBridge: {} }),
      }),
    ),
    ({ rules }, element) => checkTogether(rules, element),
  ),
);

/** Refuses rules that share an id, or an event of a key. */
function checkTogether(rules: readonly UnnamedNotificationRule[], element: XmlElement): void {
  const ids = rules.flatMap(({ id: named }) => named ?? []);
  const repeated = ids.find((each, at) => ids.indexOf(each) !== at);
  if (repeated !== undefined) {
    throw element.invalidArgument('Same ID used for multiple configurations. IDs must be unique', 'Id', repeated);
  }
  for (const [at, rule] of rules.entries()) {
    if (!rules.slice(0, at).some((other) => overlap(rule, other))) continue;
    throw element.invalidArgument(
      'Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules if the prefixes are overlapping for the same event type.',
      'Event',
      rule.events.join(', '),
    );
  }
}

/** Tells whether an event of some key would match both. */
function overlap(a: UnnamedNotificationRule, b: UnnamedNotificationRule): boolean {
  const { prefix: prefixOfA = '', suffix: suffixOfA = '' } = a;
  const { prefix: prefixOfB = '', suffix: suffixOfB = '' } = b;
  return (
    (prefixOfA.startsWith(prefixOfB) || prefixOfB.startsWith(prefixOfA)) &&
    (suffixOfA.endsWith(suffixOfB) || suffixOfB.endsWith(suffixOfA)) &&
    a.events.some((one) => b.events.some((other) => includes(one, other) || includes(other, one)))
  );
}

function includes(pattern: string, name: string): boolean {
  return pattern === name || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)));
}

/** Tells whether a rule is about an event of a key. */
export function appliesTo(rule: UnnamedNotificationRule, name: EventName, key: string): boolean {
  const { prefix = '', suffix = '' } = rule;
  if (!key.startsWith(prefix) || !key.endsWith(suffix)) return false;
  return rule.events.some((pattern) => includes(pattern, `s3:${name}`));
}
