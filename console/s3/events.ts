import type { S3Client, S3Request } from './client.ts';
import { writeXml } from './xml.ts';
import { notification, type NotificationConfiguration } from '../../shared/documents/notification.ts';
import {
  eventDeliveries,
  replayedEvents,
  webhookListing,
  webhookSecret,
  webhookTest,
  writtenWebhook,
  type ShownDelivery,
  type ShownWebhook,
} from '../../shared/documents/webhooks.ts';

/*
 * The events of a bucket, and the webhooks of its project, which are sub-resources of Stillage: docs/events.md.
 */

export type Webhook = ShownWebhook;
export type Delivery = ShownDelivery;

/** Why events of a bucket have not arrived: they were given up, or wait. */
export type DeliveryStatus = 'failed' | 'waiting';

/** A webhook as it is set. */
export interface WebhookSettings {
  readonly name: string;
  readonly url: string;
  readonly format: string;
  readonly batch: string;
}

const query = { notification: '' };

/** Returns the rules of a bucket. */
export async function getNotification(client: S3Client, bucket: string): Promise<NotificationConfiguration> {
  return notification.content.read(await client.document({ method: 'GET', bucket, query }));
}

/** Replaces the rules of a bucket. @throws S3Failure InvalidArgument, also if a target does not take a test event */
export async function putNotification(
  client: S3Client,
  bucket: string,
  configuration: NotificationConfiguration,
): Promise<void> {
  await client.send({ method: 'PUT', bucket, query, body: writeXml(notification, configuration) });
}

/** Returns the webhooks of the project, by name. */
export async function listWebhooks(client: S3Client): Promise<readonly Webhook[]> {
  return webhookListing.content.read(await client.document({ method: 'GET', query: { webhooks: '' } })).webhooks;
}

/** Returns the request that creates or changes a webhook. */
export function webhookRequest({ name, url, format, batch }: WebhookSettings): S3Request {
  return { method: 'PUT', query: { webhook: '', name }, body: writeXml(writtenWebhook, { url, format, batch }) };
}

/**
 * Creates or changes a webhook. Returns the secret of a new one, which the service shows once.
 * @throws S3Failure InvalidArgument
 */
export async function putWebhook(client: S3Client, settings: WebhookSettings): Promise<string | undefined> {
  return webhookSecret.content.read(await client.document(webhookRequest(settings))).secret;
}

/** Returns the request that replaces the secret of a webhook: repeated, it would replace the one that was shown. */
export function rotateRequest(name: string): S3Request {
  return { method: 'POST', query: { 'webhook-secret': '', name }, once: true };
}

/** Replaces the secret of a webhook, and returns the new one. */
export async function rotateWebhook(client: S3Client, name: string): Promise<string | undefined> {
  return webhookSecret.content.read(await client.document(rotateRequest(name))).secret;
}

/** Returns the request that removes a webhook. */
export function removeRequest(name: string): S3Request {
  return { method: 'DELETE', query: { webhook: '', name } };
}

/** Removes a webhook, and the events that wait for it. */
export async function removeWebhook(client: S3Client, name: string): Promise<void> {
  await client.send(removeRequest(name));
}

/** Returns the request that sends a test event to a webhook. */
export function testRequest(name: string): S3Request {
  return { method: 'POST', query: { 'webhook-test': '', name }, once: true };
}

/** Sends a test event to a webhook. Returns why it was not taken; undefined: it was. */
export async function testWebhook(client: S3Client, name: string): Promise<string | undefined> {
  const xml = await client.document(testRequest(name));
  const { isTaken, reason } = webhookTest.content.read(xml);
  return isTaken ? undefined : (reason ?? '');
}

/** Returns events of a bucket that were not delivered, oldest first, at most so many; and whether there are more. */
export async function listDeliveries(
  client: S3Client,
  bucket: string,
  status: DeliveryStatus,
  most: number,
): Promise<{ readonly deliveries: readonly Delivery[]; readonly hasMore: boolean }> {
  const deliveries: Delivery[] = [];
  let marker: string | undefined;
  do {
    const xml = await client.document({ method: 'GET', bucket, query: { 'event-deliveries': '', status, marker } });
    const page = eventDeliveries.content.read(xml);
    deliveries.push(...page.deliveries);
    marker = page.nextMarker;
  } while (marker !== undefined && deliveries.length < most);
  return { deliveries: deliveries.slice(0, most), hasMore: marker !== undefined || deliveries.length > most };
}

/** Returns the request that delivers events again that were given up: one, or as many as the service does at a time. */
export function replayRequest(bucket: string, id?: string, marker?: string): S3Request {
  return { method: 'POST', bucket, query: { 'event-deliveries': '', id, marker } };
}

/** Delivers events again that were given up: one, or all. Returns how many, without those whose webhooks are gone. */
export async function replayEvents(client: S3Client, bucket: string, id?: string): Promise<number> {
  let [count, marker]: [number, string | undefined] = [0, undefined];
  do {
    const page = replayedEvents.content.read(await client.document(replayRequest(bucket, id, marker)));
    count += page.replayed;
    marker = page.nextMarker;
  } while (marker !== undefined);
  return count;
}
