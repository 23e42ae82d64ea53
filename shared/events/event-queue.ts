import { day } from '../ports/durations.ts';
import type { Attributes, Change, Condition, Item, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import { numberOf } from '../storage/table/attribute-values.ts';
import { eventKey, eventPartition, queuePrefix } from '../storage/table/keys/event-keys.ts';
import { madeAt, timedId } from '../storage/table/keys/ids.ts';
import { settled } from '../storage/table/settled.ts';

/** How long an event that was given up can be replayed. */
export const deadLetterTime = 14 * day;
/** The changes of one write, fewer than a write may have: a record of the longest key takes some kilobytes. */
const changesPerWrite = 90;
const pageSize = 500;

/** An event that waits for its delivery to a webhook. */
export interface QueuedEvent {
  /** Its place in the queue. */
  readonly place: string;
  /** Names its object: events of an object are delivered in the order of the queue. */
  readonly subject: string;
  /** The bytes for which it counts. */
  readonly bytes: number;
  /** When it came into the queue, in milliseconds since the epoch. */
  readonly at: number;
  /** The last attempt, if one has failed. */
  readonly attempt?: FailedAttempt | undefined;
}

/** An attempt to deliver an event that failed. */
interface FailedAttempt {
  readonly reason: string;
  /** When the next one is due, in milliseconds since the epoch. */
  readonly next: number;
}

/** An event with its record. */
export interface FullEvent extends QueuedEvent {
  /** As JSON. */
  readonly record: string;
}

/** An event that was given up. */
export interface DeadLetter extends Pick<FullEvent, 'subject' | 'record'> {
  readonly id: string;
  /** The name of the webhook. */
  readonly webhook: string;
  /** The last failure. */
  readonly reason: string;
  /** When it was given up, in milliseconds since the epoch. */
  readonly failed: number;
}

/** Some of what there is, and whether there is more. */
interface Page<One> {
  readonly found: readonly One[];
  readonly more: boolean;
}

/** Returns the bytes for which an event counts. */
export function bytesOf({ record, subject }: Pick<FullEvent, 'record' | 'subject'>): number {
  return Buffer.byteLength(record) + Buffer.byteLength(subject);
}

/** The queues of webhooks, and what was given up of them. */
export class EventQueue {
  readonly #table: KeyValueTable;
  readonly #randomness: Randomness;

  constructor(deps: { readonly table: KeyValueTable; readonly randomness: Randomness }) {
    this.#table = deps.table;
    this.#randomness = deps.randomness;
  }

  /** Applies changes that may be repeated, some at a time. @throws S3Error ServiceUnavailable, TableBusy */
  async write(changes: readonly Change[]): Promise<void> {
    for (let at = 0; at < changes.length; at += changesPerWrite) {
      await settled(this.#table.write(changes.slice(at, at + changesPerWrite)));
    }
  }

  /** Returns events of a queue after a place, in order. @param stream those of the change feed, or those that are replayed */
  async after(
    webhookId: string,
    stream: keyof typeof queuePrefix,
    after: string,
    limit: number,
  ): Promise<{ readonly events: readonly QueuedEvent[]; readonly more: boolean }> {
    const prefix = queuePrefix[stream];
    const options = { prefix, limit, ...(after !== '' && { after }) };
    const { items, more } = await this.#table.query(eventPartition.queue(webhookId), options);
    return { events: items.map(decodeQueued), more };
  }

  /** Yields the events of a queue from a place on. */
  async *from(webhookId: string, place?: string): AsyncGenerator<QueuedEvent> {
    for await (const item of this.#items(eventPartition.queue(webhookId), place)) yield decodeQueued(item);
  }

  /** Returns events with their records, of those that are still in the queue. */
  async full(webhookId: string, events: readonly QueuedEvent[]): Promise<readonly FullEvent[]> {
    const items = await Promise.all(events.map(({ place }) => this.#table.get(this.#keyOf(webhookId, place))));
    return events.flatMap((event, at) => {
      const record = items[at]?.['record'];
      return typeof record === 'string' ? [{ ...event, record }] : [];
    });
  }

  /** Removes events that were delivered. */
  async remove(webhookId: string, events: readonly QueuedEvent[]): Promise<void> {
    await this.write(events.map(({ place }) => ({ key: this.#keyOf(webhookId, place), delete: true })));
  }

  /** Notes that an attempt to deliver events has failed, for those who ask. */
  async note(webhookId: string, events: readonly FullEvent[], { reason, next }: FailedAttempt): Promise<void> {
    await this.write(
      events.map(({ place, subject, record, at }) => ({
        key: this.#keyOf(webhookId, place),
        put: { subject, record, at, reason, next },
        expect: { is: 'present' },
      })),
    );
  }

  /**
   * Returns events of a queue after a place, with their records.
   * @param place '' for all
   */
  async waiting(webhookId: string, place: string, limit: number): Promise<Page<FullEvent>> {
    const options = { limit, ...(place !== '' && { after: place }) };
    const { items, more } = await this.#table.query(eventPartition.queue(webhookId), options);
    const found = items.map((item) => ({ ...decodeQueued(item), record: item.attributes['record'] as string }));
    return { found, more };
  }

  /** Returns events of a project that were given up, oldest first. @param id those after it; '' for all */
  async givenUp(project: string, id: string, limit: number): Promise<Page<DeadLetter>> {
    const options = { limit, ...(id !== '' && { after: id }) };
    const { items, more } = await this.#table.query(eventPartition.deadLetters(project), options);
    return { found: items.map(({ key, attributes }) => decodeLetter(key.sk, attributes)), more };
  }

  /** Removes the queue of a webhook that is gone. @param each is told of each event */
  async discard(webhookId: string, each: (event: QueuedEvent) => void): Promise<void> {
    const pk = eventPartition.queue(webhookId);
    for (;;) {
      const { items } = await this.#table.query(pk, { limit: changesPerWrite });
      if (items.length === 0) break;
      await this.write(items.map(({ key }) => ({ key, delete: true })));
      for (const item of items) each(decodeQueued(item));
    }
    await this.write([{ key: eventKey.listedWebhook(webhookId), delete: true }]);
  }

  /** Gives up events. */
  async giveUp(
    { id, project, name }: { readonly id: string; readonly project: string; readonly name: string },
    events: readonly QueuedEvent[],
    { reason, now }: { readonly reason: string; readonly now: number },
  ): Promise<void> {
    for (const { place, subject, record } of await this.full(id, events)) {
      const letter = { webhook: name, subject, record, reason };
      await this.write([
        { key: this.#keyOf(id, place), delete: true },
        { key: eventKey.deadLetter(project, timedId(now, this.#randomness)), put: letter },
      ]);
    }
  }

  /** Yields the events of a project that were given up, oldest first. */
  async *deadLetters(project: string): AsyncGenerator<DeadLetter> {
    for await (const { key, attributes } of this.#items(eventPartition.deadLetters(project))) {
      yield decodeLetter(key.sk, attributes);
    }
  }

  /** Returns an event that was given up. */
  async deadLetter(project: string, id: string): Promise<DeadLetter | undefined> {
    const item = await this.#table.get(eventKey.deadLetter(project, id));
    return item && decodeLetter(id, item);
  }

  /**
   * Puts an event that was given up into the queue of its webhook again, behind all others.
   * @param conditions under which the caller may do so
   * @returns false if it was replayed meanwhile, or a condition failed
   */
  async replay(
    project: string,
    webhookId: string,
    letter: DeadLetter,
    now: number,
    conditions: readonly Condition[] = [],
  ): Promise<boolean> {
    const { subject, record, id } = letter;
    return settled(
      this.#table.write(
        [
          { key: eventKey.deadLetter(project, id), delete: true, expect: { is: 'present' } },
          { key: eventKey.replayed(webhookId, timedId(now, this.#randomness)), put: { subject, record, at: now } },
        ],
        conditions,
      ),
    );
  }

  /** Removes what can no longer be replayed. */
  async expireDeadLetters(project: string, now: number): Promise<void> {
    for await (const { id, failed } of this.deadLetters(project)) {
      if (failed >= now - deadLetterTime) return;
      await this.write([{ key: eventKey.deadLetter(project, id), delete: true }]);
    }
  }

  /** Returns the number of a project's events that were dropped. */
  async dropped(project: string): Promise<number> {
    return numberOf((await this.#table.get(eventKey.dropped(project)))?.['count']);
  }

  async *#items(pk: string, from?: string): AsyncGenerator<Item> {
    let after: string | undefined;
    for (let more = true; more;) {
      const start = after === undefined ? from !== undefined && { from } : { after };
      const page = await this.#table.query(pk, { limit: pageSize, ...start });
      yield* page.items;
      after = page.items.at(-1)?.key.sk;
      more = page.more && after !== undefined;
    }
  }

  #keyOf(webhookId: string, place: string): Change['key'] {
    return { pk: eventPartition.queue(webhookId), sk: place };
  }
}

function decodeQueued({ key, attributes }: Item): QueuedEvent {
  const [subject, record] = [attributes['subject'] as string, attributes['record'] as string];
  const event = { place: key.sk, subject, bytes: bytesOf({ subject, record }), at: attributes['at'] as number };
  const [reason, next] = [attributes['reason'], attributes['next']];
  return typeof reason === 'string' ? { ...event, attempt: { reason, next: next as number } } : event;
}

function decodeLetter(id: string, item: Attributes): DeadLetter {
  return {
    id,
    webhook: item['webhook'] as string,
    subject: item['subject'] as string,
    record: item['record'] as string,
    reason: item['reason'] as string,
    failed: madeAt(id),
  };
}
