import type { WebhookCall } from '../ports/webhook-caller.ts';
import type { EventRecord } from './event-record.ts';
import type { FullEvent } from './event-queue.ts';
import type { Webhook } from './webhook-targets.ts';

type Message = Pick<WebhookCall, 'body' | 'contentType' | 'id'>;

/**
 * Returns the message that delivers events, the same for the same events. Nothing of an event is in a header field: keys and names are
 * those of strangers.
 */
export function webhookMessage({ id, format }: Pick<Webhook, 'id' | 'format'>, events: readonly FullEvent[]): Message {
  const ids = [events[0]!, ...(events.length > 1 ? [events.at(-1)!] : [])].map((event) => idOf(id, event));
  const message = { id: ids.join('-') };
  if (format === 's3') return { ...message, body: `{"Records":[${events.map(({ record }) => record).join(',')}]}` };
  return { ...message, contentType: 'application/cloudevents+json', body: cloudEvent(events[0]!.record, message.id) };
}

/** Returns the id of an event in a queue. */
function idOf(webhookId: string, { place }: FullEvent): string {
  // Without the zeros before a position in the feed.
  return `${webhookId}.${place.slice('e/'.length).replace(/^0+(?=.)/, '')}`;
}

/**
 * Returns a record as a CloudEvent in the structured mode:
 * https://github.com/cloudevents/spec/blob/main/cloudevents/adapters/aws-s3.md
 */
function cloudEvent(record: string, id: string): string {
  const data = JSON.parse(record) as EventRecord;
  return JSON.stringify({
    specversion: '1.0',
    id,
    source: `stillage:s3.${data.awsRegion}.${data.s3.bucket.name}`,
    type: `com.amazonaws.s3.${data.eventName}`,
    subject: data.s3.object.key,
    time: data.eventTime,
    datacontenttype: 'application/json',
    data,
  });
}
