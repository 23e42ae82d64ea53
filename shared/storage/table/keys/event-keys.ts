import type { ItemKey } from '../../../ports/key-value-table.ts';
import { kinds, only } from './keys.ts';

/** The characters of a bucket id. */
const bucketIdLength = 22;
/** The digits of a position in the change feed. */
const positionDigits = 40;

export const eventPartition = {
  webhooks: (project: string): string => `webhook/${project}`,
  /** All webhooks, by their ids. */
  everyWebhook: 'webhooks',
  /** The events that wait for their delivery to a webhook. */
  queue: (webhookId: string): string => `event-queue/${webhookId}`,
  /** The events of a project that were given up. */
  deadLetters: (project: string): string => `event-dead/${project}`,
} as const;

/** The prefixes of the sort keys in a queue: events in the order of their commits, and those that are replayed. */
export const queuePrefix = { events: 'e/', replayed: 'r/' } as const;

export const eventKey = {
  /** One item for each object key, so that the changes of a key are in order in any feed. */
  event: (bucketId: string, key: string): ItemKey => ({ pk: `${kinds.event}${bucketId}/${key}`, sk: only }),
  webhook: (project: string, name: string): ItemKey => ({ pk: eventPartition.webhooks(project), sk: name }),
  /** Written whenever a project gets a webhook, so that two at a time do not exceed the limit. */
  webhookMark: (project: string): ItemKey => ({ pk: `webhook-mark/${project}`, sk: only }),
  listedWebhook: (webhookId: string): ItemKey => ({ pk: eventPartition.everyWebhook, sk: webhookId }),
  queued: (webhookId: string, position: string): ItemKey => ({
    pk: eventPartition.queue(webhookId),
    sk: queuePrefix.events + position.padStart(positionDigits, '0'),
  }),
  replayed: (webhookId: string, id: string): ItemKey => ({
    pk: eventPartition.queue(webhookId),
    sk: queuePrefix.replayed + id,
  }),
  deadLetter: (project: string, id: string): ItemKey => ({ pk: eventPartition.deadLetters(project), sk: id }),
  /** The number of a project's events that were dropped. */
  dropped: (project: string): ItemKey => ({ pk: `event-drops/${project}`, sk: only }),
} as const;

/** Parses keys: the inverse of {@link eventKey}. */
export const eventKeyParts = {
  /** Returns the bucket and the object key of an event; undefined for any other item. */
  event: ({ pk }: ItemKey): { readonly bucketId: string; readonly key: string } | undefined => {
    if (!pk.startsWith(kinds.event)) return undefined;
    const rest = pk.slice(kinds.event.length);
    return { bucketId: rest.slice(0, bucketIdLength), key: rest.slice(bucketIdLength + 1) };
  },
} as const;
