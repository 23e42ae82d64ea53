import { eventDeliveries, replayedEvents, type ShownDelivery } from '../../shared/documents/webhooks.ts';
import { invalidArgument, S3Error } from '../../shared/errors/s3-error.ts';
import { deadLetterTime, type DeadLetter, type FullEvent } from '../../shared/events/event-queue.ts';
import type { EventRecord } from '../../shared/events/event-record.ts';
import type { EventTargets } from '../../shared/events/event-targets.ts';
import { isOfBucket } from '../../shared/events/recorded-event.ts';
import type { Query } from '../../shared/http/query.ts';
import { defineOperation, type Context } from '../../shared/protocol/operation.ts';
import type { Bucket } from '../../shared/storage/buckets/bucket.ts';
import { conflict, optimistically, slowDown } from '../../shared/storage/table/optimistic-write.ts';

/** The events of the project that a request looks at. Those of other buckets are not shown: who may see them is another question. */
const examinedPerPage = 500;
const replayedPerRequest = 100;

type Status = 'failed' | 'waiting';

interface Deliveries {
  readonly deliveries: readonly ShownDelivery[];
  readonly next?: string | undefined;
}

/** Returns events of a bucket that were given up in the last 14 days, or wait for their delivery. docs/events.md */
export const listEventDeliveries = defineOperation({
  name: 'ListEventDeliveries',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  isListing: true,
  parse: ({ bucket, query }) => ({ bucket, status: readStatus(query), marker: readMarker(query) }),
  authorise: ({ bucket }) => [{ action: 'ListEventDeliveries', bucket }],
  act: async ({ status, marker }, { bucket, clock, eventTargets }) => {
    if (eventTargets === undefined) return { deliveries: [], dropped: 0 };
    const page: Deliveries =
      status === 'failed'
        ? await givenUp(bucket, marker, { eventTargets, now: clock.now() })
        : await waiting(bucket, marker, eventTargets);
    return { ...page, dropped: await eventTargets.queue.dropped(bucket.project) };
  },
  render: (
    { deliveries, dropped, next }: Deliveries & { readonly dropped: number },
    { bucket, status, marker },
    { settings },
  ) => ({
    xml: eventDeliveries.write(
      { bucket, status, marker, nextMarker: next, isTruncated: next !== undefined, dropped, deliveries },
      settings.xmlNamespace,
    ),
  }),
});

/** Delivers events of a bucket again that were given up: one, or some at a time. docs/events.md */
export const replayEvents = defineOperation({
  name: 'ReplayEvents',
  on: 'bucket',
  body: 'none',
  needs: { table: 'write' },
  parse: ({ bucket, query }) => ({ bucket, id: readId(query), marker: readMarker(query) }),
  authorise: ({ bucket }) => [{ action: 'ReplayEvents', bucket }],
  act: async ({ id, marker }, context): Promise<Replayed> => {
    const { bucket, eventTargets } = context;
    if (eventTargets === undefined && id !== undefined) throw noSuchDelivery(id);
    if (eventTargets === undefined) return { replayed: 0, left: 0 };
    const { queue, webhooks } = eventTargets;
    const { found, more } =
      id === undefined ? await queue.givenUp(bucket.project, marker, replayedPerRequest) : await one(bucket, id, queue);
    const known = new Map((await webhooks.of(bucket.project)).map((webhook) => [webhook.name, webhook.id]));
    let [replayed, left] = [0, 0];
    for (const letter of found.filter((each) => isOfBucket(each, bucket.id))) {
      const webhook = known.get(letter.webhook);
      if (webhook === undefined) left += 1;
      else if (await replay(letter, webhook, { ...context, queue })) replayed += 1;
    }
    return { replayed, left, next: more ? found.at(-1)?.id : undefined };
  },
  render: ({ replayed, left, next }: Replayed, _, { settings }) => ({
    xml: replayedEvents.write(
      { replayed, left, nextMarker: next, isTruncated: next !== undefined },
      settings.xmlNamespace,
    ),
  }),
});

interface Replayed {
  readonly replayed: number;
  readonly left: number;
  readonly next?: string | undefined;
}

/** @throws S3Error InvalidArgument */
function readStatus(query: Query): Status {
  const status = query.get('status') ?? 'failed';
  if (status === 'failed' || status === 'waiting') return status;
  throw invalidArgument('status', status, 'The status is failed or waiting.');
}

/** @throws S3Error InvalidArgument */
function readMarker(query: Query): string {
  const marker = query.get('marker') ?? '';
  // It is part of a sort key, whose length is limited.
  if (!/^[\w/-]{0,256}$/.test(marker)) throw invalidArgument('marker', marker);
  return marker;
}

/** @throws S3Error InvalidArgument */
function readId(query: Query): string | undefined {
  const id = query.get('id');
  if (id !== undefined && !/^[\w-]{1,64}$/.test(id)) throw invalidArgument('id', id);
  return id;
}

function noSuchDelivery(id: string): S3Error {
  return new S3Error('NoSuchDelivery', { details: { DeliveryId: id } });
}

/** Returns one event of the bucket that was given up. @throws S3Error NoSuchDelivery, also if it is of another bucket */
async function one(bucket: Bucket, id: string, queue: EventTargets['queue']) {
  const letter = await queue.deadLetter(bucket.project, id);
  if (letter === undefined || !isOfBucket(letter, bucket.id)) throw noSuchDelivery(id);
  return { found: [letter], more: false };
}

type ReplayContext = Pick<Context<'bucket', 'none'>, 'authorisation' | 'buckets' | 'clock'> & {
  readonly queue: EventTargets['queue'];
};

/** Replays an event, if the caller may do so at the commit. @returns false if it was replayed meanwhile */
async function replay(letter: DeadLetter, webhook: string, context: ReplayContext): Promise<boolean> {
  const { authorisation, buckets, clock, queue } = context;
  let { bucket } = authorisation;
  return optimistically<boolean>(async () => {
    bucket = await buckets.readyFor(bucket);
    const conditions = buckets.exactConditions(bucket, await authorisation.confirm(bucket));
    if (await queue.replay(bucket.project, webhook, letter, clock.now(), conditions)) return true;
    if ((await queue.deadLetter(bucket.project, letter.id)) === undefined) return false;
    bucket = buckets.stale(bucket);
    return conflict;
  }, slowDown);
}

async function givenUp(
  bucket: Bucket,
  marker: string,
  { eventTargets, now }: { readonly eventTargets: EventTargets; readonly now: number },
): Promise<Deliveries> {
  const { found, more } = await eventTargets.queue.givenUp(bucket.project, marker, examinedPerPage);
  const own = found.filter((letter) => isOfBucket(letter, bucket.id) && letter.failed >= now - deadLetterTime);
  return { deliveries: own.map(shownLetter), next: more ? found.at(-1)?.id : undefined };
}

/** @param marker the name of a webhook and, after a slash, a place in its queue */
async function waiting(bucket: Bucket, marker: string, { webhooks, queue }: EventTargets): Promise<Deliveries> {
  const [name = '', ...rest] = marker.split('/');
  const deliveries: ShownDelivery[] = [];
  let room = examinedPerPage;
  for (const webhook of await webhooks.of(bucket.project)) {
    if (webhook.name < name) continue;
    const { found, more } = await queue.waiting(webhook.id, webhook.name === name ? rest.join('/') : '', room);
    const own = found.filter((event) => isOfBucket(event, bucket.id));
    deliveries.push(...own.map((event) => shownEvent(webhook.name, event)));
    room -= found.length;
    if (more || room <= 0) return { deliveries, next: `${webhook.name}/${found.at(-1)?.place ?? ''}` };
  }
  return { deliveries };
}

function shownLetter({ id, webhook, record, reason, failed }: DeadLetter): ShownDelivery {
  return { ...shownRecord(record), id, webhook, since: failed, reason };
}

function shownEvent(webhook: string, { place, record, at, attempt }: FullEvent): ShownDelivery {
  return { ...shownRecord(record), id: place, webhook, since: at, reason: attempt?.reason, nextTry: attempt?.next };
}

function shownRecord(text: string): Pick<ShownDelivery, 'event' | 'eventTime' | 'key' | 'versionId'> {
  const { eventName, eventTime, s3 } = JSON.parse(text) as EventRecord;
  const { key, versionId } = s3.object as typeof s3.object & { readonly versionId?: string };
  return { event: eventName, eventTime, key, versionId };
}
