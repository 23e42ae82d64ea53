import { describe, expect, it } from 'vitest';
import {
  eventDeliveries,
  replayedEvents,
  webhook,
  webhookListing,
  webhookSecret,
  webhookTest,
} from '../../../shared/documents/webhooks.ts';
import { golden, namespace } from '../xml/golden.ts';

const at = Date.UTC(2026, 10, 20, 10);
const shown = { name: 'a', arn: 'arn:x', url: 'https://a.example/?b&c', format: 's3', batch: 1, created: at };

describe('the documents of webhooks', () => {
  it('are written', () => {
    expect(webhook.write(shown, namespace)).toBe(golden`
      <Webhook xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Name>a</Name>
        <Arn>arn:x</Arn>
        <Url>https://a.example/?b&amp;c</Url>
        <Format>s3</Format>
        <Batch>1</Batch>
        <CreationDate>2026-11-20T10:00:00.000Z</CreationDate>
      </Webhook>`);
    expect(webhookListing.write({ webhooks: [] }, namespace)).toBe(golden`
      <ListWebhooksResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`);
    expect(webhookSecret.write({ name: 'a', arn: 'arn:x', secret: undefined }, namespace)).toBe(golden`
      <WebhookSecret xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>a</Name><Arn>arn:x</Arn></WebhookSecret>`);
    expect(webhookTest.write({ name: 'a', isTaken: false, reason: 'no & no' }, namespace)).toBe(golden`
      <TestWebhookResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Name>a</Name>
        <Taken>false</Taken>
        <Reason>no &amp; no</Reason>
      </TestWebhookResult>`);
  });

  it('of deliveries have what is known of them', () => {
    const delivery = { id: 'e/1', webhook: 'a', event: 'ObjectCreated:Put', eventTime: 't', key: 'a+b', since: at };
    const page = { bucket: 'b', status: 'waiting', marker: '', isTruncated: false, dropped: 2 };
    const deliveries = [{ ...delivery, versionId: 'v', reason: 'r', nextTry: at }];
    expect(eventDeliveries.write({ ...page, nextMarker: undefined, deliveries }, namespace)).toBe(golden`
      <ListEventDeliveriesResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Name>b</Name>
        <Status>waiting</Status>
        <Marker/>
        <IsTruncated>false</IsTruncated>
        <Dropped>2</Dropped>
        <Delivery>
          <Id>e/1</Id>
          <Webhook>a</Webhook>
          <EventName>ObjectCreated:Put</EventName>
          <EventTime>t</EventTime>
          <Key>a+b</Key>
          <VersionId>v</VersionId>
          <Since>2026-11-20T10:00:00.000Z</Since>
          <Reason>r</Reason>
          <NextTry>2026-11-20T10:00:00.000Z</NextTry>
        </Delivery>
      </ListEventDeliveriesResult>`);
    expect(replayedEvents.write({ replayed: 1, left: 0, nextMarker: 'x', isTruncated: true }, namespace)).toBe(golden`
      <ReplayEventsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Replayed>1</Replayed>
        <Left>0</Left>
        <NextMarker>x</NextMarker>
        <IsTruncated>true</IsTruncated>
      </ReplayEventsResult>`);
  });
});
