import { describe, expect, it } from 'vitest';
import { appliesTo, notification, type EventName } from '../../../shared/documents/notification.ts';
import { readDocument } from '../../../shared/xml/reader.ts';
import { golden, namespace } from '../xml/golden.ts';

const read = (inner: string) =>
  readDocument(`<NotificationConfiguration>${inner}</NotificationConfiguration>`, notification);
const queue = (events: readonly string[], filter: Readonly<Record<string, string>> = {}, id = ''): string =>
  `<QueueConfiguration>${id && `<Id>${id}</Id>`}<Queue>arn</Queue>` +
  events.map((event) => `<Event>${event}</Event>`).join('') +
  `<Filter><S3Key>${Object.entries(filter)
    .map(([name, value]) => `<FilterRule><Name>${name}</Name><Value>${value}</Value></FilterRule>`)
    .join('')}</S3Key></Filter></QueueConfiguration>`;

const ambiguous =
  'Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules if the prefixes are overlapping for the same event type.';

describe('a notification configuration', () => {
  it('is written as S3 does', () => {
    expect(notification.write({ rules: [], eventBridge: false }, namespace)).toBe(
      golden`<NotificationConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`,
    );
    const rule = { id: 'a', via: 'Topic', target: 't', events: ['s3:ObjectAcl:Put'], suffix: '.png' } as const;
    expect(notification.write({ rules: [rule], eventBridge: true }, namespace)).toBe(
      golden`<NotificationConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><TopicConfiguration><Id>a</Id><Topic>t</Topic><Event>s3:ObjectAcl:Put</Event><Filter><S3Key><FilterRule><Name>suffix</Name><Value>.png</Value></FilterRule></S3Key></Filter></TopicConfiguration><EventBridgeConfiguration/></NotificationConfiguration>`,
    );
  });

  it('may say Prefix and Suffix in any case', () => {
    const { rules } = read(queue(['s3:ObjectCreated:*'], { Prefix: 'a', SUFFIX: 'b' }));
    expect(rules).toEqual([{ via: 'Queue', target: 'arn', events: ['s3:ObjectCreated:*'], prefix: 'a', suffix: 'b' }]);
  });

  it.each([
    [queue(['s3:ObjectCreated:Move']), 'A specified event is not supported for notifications.'],
    [queue(['ObjectCreated:Put']), 'A specified event is not supported for notifications.'],
    [queue(['s3:ObjectAcl:*']), 'A specified event is not supported for notifications.'],
    [queue(['s3:ObjectAcl:Put'], { middle: 'a' }), 'filter rule name must be either prefix or suffix'],
    [
      queue(['s3:ObjectAcl:Put'], { prefix: 'a', Prefix: 'b' }),
      'Cannot specify more than one prefix rule in a filter.',
    ],
    [
      queue(['s3:ObjectAcl:Put'], { prefix: 'ä'.repeat(513) }),
      'Size of filter rule value cannot exceed 1024 bytes in UTF-8 representation',
    ],
    [
      queue(['s3:ObjectAcl:Put'], {}, 'x') + queue(['s3:ObjectTagging:Put'], {}, 'x'),
      'Same ID used for multiple configurations. IDs must be unique',
    ],
    [queue(['s3:ObjectCreated:*']) + queue(['s3:ObjectCreated:Put'], { prefix: 'a' }), ambiguous],
    [
      queue(['s3:ObjectCreated:Put'], { prefix: 'a/', suffix: 'g' }) +
        queue(['s3:ObjectRemoved:*', 's3:ObjectCreated:Put'], { prefix: 'a/b', suffix: '.jpg' }),
      ambiguous,
    ],
  ])('is refused: %s', (inner, message) => {
    expect(() => read(inner)).toThrow(expect.objectContaining({ code: 'InvalidArgument', message }));
  });

  it.each([
    queue(['s3:ObjectCreated:*'], { prefix: 'a' }) + queue(['s3:ObjectCreated:*'], { prefix: 'b' }),
    queue(['s3:ObjectCreated:*'], { suffix: 'a' }) + queue(['s3:ObjectCreated:*'], { suffix: 'b' }),
    queue(['s3:ObjectCreated:*']) + queue(['s3:ObjectRemoved:*']),
  ])('may have rules that never apply to the same: %s', (inner) => {
    expect(read(inner).rules).toHaveLength(2);
  });

  it.each([
    '<QueueConfiguration><Queue>q</Queue></QueueConfiguration>',
    '<QueueConfiguration><Event>s3:ObjectAcl:Put</Event></QueueConfiguration>',
    '<Other/>',
  ])('is malformed: %s', (inner) => {
    expect(() => read(inner)).toThrow(expect.objectContaining({ code: 'MalformedXML' }));
  });
});

it.each<[EventName, string, boolean]>([
  ['ObjectCreated:Put', 'a/x.jpg', true],
  ['ObjectCreated:Copy', 'a/x.jpg', true],
  ['ObjectRemoved:Delete', 'a/x.jpg', true],
  ['ObjectRemoved:DeleteMarkerCreated', 'a/x.jpg', false],
  ['ObjectCreated:Put', 'b/x.jpg', false],
  ['ObjectCreated:Put', 'a/x.png', false],
])('%s of %s: %s', (name, key, applies) => {
  const events = ['s3:ObjectCreated:*', 's3:ObjectRemoved:Delete'];
  expect(appliesTo({ via: 'Queue', target: 't', events, prefix: 'a/', suffix: '.jpg' }, name, key)).toBe(applies);
});
