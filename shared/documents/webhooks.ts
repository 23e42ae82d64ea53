import { boolean, documentType, elements, ifAny, many, number, one, text, time, type ValueOf } from './schema.ts';

/*
 * The documents of webhooks and of the events that are delivered to them. They are Stillage's own: docs/events.md. Times are milliseconds since
 * the epoch.
 */

/** The body of PutWebhook. Its values are checked later, as texts. */
export const writtenWebhook = documentType(
  'Webhook',
  elements({ url: one('Url', text), format: ifAny('Format', text), batch: ifAny('Batch', text) }),
);

/** The response of PutWebhook and RotateWebhookSecret: only they show a secret, a new one. */
export const webhookSecret = documentType(
  'WebhookSecret',
  elements({ name: one('Name', text), arn: one('Arn', text), secret: ifAny('Secret', text) }),
);

const shownWebhook = elements({
  name: one('Name', text),
  arn: one('Arn', text),
  url: one('Url', text),
  format: one('Format', text),
  batch: one('Batch', number),
  created: one('CreationDate', time),
});
/** A webhook as shown in responses. */
export type ShownWebhook = ValueOf<typeof shownWebhook>;

/** The response of GetWebhook. */
export const webhook = documentType('Webhook', shownWebhook);

/** The webhooks of a project, ordered by name. */
export const webhookListing = documentType('ListWebhooksResult', elements({ webhooks: many('Webhook', shownWebhook) }));

/** The response of TestWebhook. */
export const webhookTest = documentType(
  'TestWebhookResult',
  elements({ name: one('Name', text), isTaken: one('Taken', boolean), reason: ifAny('Reason', text) }),
);

const shownDelivery = elements({
  id: one('Id', text),
  webhook: one('Webhook', text),
  event: one('EventName', text),
  eventTime: one('EventTime', text),
  /** Encoded as in records. */
  key: one('Key', text),
  versionId: ifAny('VersionId', text),
  /** When it came into the queue, or was given up. */
  since: one('Since', time),
  /** Why the last attempt failed. */
  reason: ifAny('Reason', text),
  nextTry: ifAny('NextTry', time),
});
/** An event that waits for its delivery, or was given up. */
export type ShownDelivery = ValueOf<typeof shownDelivery>;

/** A page of the events of a bucket that wait, or were given up. */
export const eventDeliveries = documentType(
  'ListEventDeliveriesResult',
  elements({
    bucket: one('Name', text),
    status: one('Status', text),
    marker: one('Marker', text),
    nextMarker: ifAny('NextMarker', text),
    isTruncated: one('IsTruncated', boolean),
    /** The events of the project that were dropped as too many waited. */
    dropped: one('Dropped', number),
    deliveries: many('Delivery', shownDelivery),
  }),
);

/** The response of ReplayEvents. */
export const replayedEvents = documentType(
  'ReplayEventsResult',
  elements({
    replayed: one('Replayed', number),
    /** Those whose webhooks are gone. */
    left: one('Left', number),
    nextMarker: ifAny('NextMarker', text),
    isTruncated: one('IsTruncated', boolean),
  }),
);
