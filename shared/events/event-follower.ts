import type { Attributes, Change, Expectation, FeedRecord, ItemKey, KeyValueTable } from '../ports/key-value-table.ts';
import { numberOf } from '../storage/table/attribute-values.ts';
import { settled } from '../storage/table/settled.ts';
import { eventKey, eventKeyParts } from '../storage/table/keys/event-keys.ts';
import { itemKey } from '../storage/table/keys/keys.ts';
import type { EventBacklog } from './backlog.ts';
import { eventRecord } from './event-record.ts';
import { bytesOf, type EventQueue } from './event-queue.ts';
import { decodeEvent, type RecordedEvent } from './recorded-event.ts';
import { parseWebhookArn, type Webhook, type WebhookTargets } from './webhook-targets.ts';

interface Deps {
  readonly table: KeyValueTable;
  readonly webhooks: Pick<WebhookTargets, 'find'>;
  readonly queue: EventQueue;
  readonly backlog: EventBacklog;
  /** The bytes that may wait, by project. */
  readonly limit: number;
  /** Returns the position of the newest record of the feed. */
  readonly newest: () => string | undefined;
  /** Called with the webhooks for which there are events. */
  readonly wake: (webhookIds: ReadonlySet<string>) => void;
}

/** An event in the feed. */
interface Followed {
  readonly event: RecordedEvent;
  readonly item: ItemKey;
  readonly subject: string;
  readonly record: string;
  readonly position: string;
  readonly at: number;
}

/** Where the position is kept, in the writes that put events into queues. */
const mark = itemKey.follower('events');
/** Two changes for each event at most, if all are of different projects and dropped. */
const eventsPerWrite = 40;

/**
 * Puts the events of the change feed into the queues of their webhooks, each once: the position is written with them. The feed is trimmed
 * only afterwards, so nothing that is trimmed is missing.
 */
export class EventFollower {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async follow(records: readonly FeedRecord[]): Promise<void> {
    const events = records.flatMap((record) => this.#read(record) ?? []);
    if (events.length === 0) return;
    for (let rest: readonly Followed[] = events; rest.length > 0;) {
      const marked = await this.#deps.table.get(mark);
      const upTo = this.#positionOf(marked);
      rest = rest.filter(({ position }) => BigInt(position) > upTo);
      // Otherwise another process has followed them meanwhile: a command that frees bytes.
      if (rest.length > 0 && (await this.#pass(rest.slice(0, eventsPerWrite), marked)))
        rest = rest.slice(eventsPerWrite);
    }
    // What the feed has passed on is of no use in the table.
    const items = new Map(events.map(({ item }) => [item.pk, item]));
    await this.#deps.queue.write([...items.values()].map((key) => ({ key, delete: true })));
  }

  /**
   * Puts some events into queues, in one write with the position of the last one.
   * @param marked the position as it was read
   * @returns false if it has changed
   */
  async #pass(events: readonly Followed[], marked: Attributes | undefined): Promise<boolean> {
    const { table, backlog, limit, wake } = this.#deps;
    const found = new Map<string, Webhook | undefined>();
    const changes: Change[] = [];
    const admitted: { readonly project: string; readonly bytes: number }[] = [];
    const dropped = new Map<string, number>();
    const woken = new Set<string>();
    const position = events.at(-1)!.position;
    for (const { event, subject, record, position: own, at } of events) {
      const webhook = await this.#targetOf(event, found);
      const { project } = event;
      const bytes = bytesOf({ subject, record });
      const waiting = admitted.reduce((sum, one) => (one.project === project ? sum + one.bytes : sum), bytes);
      if (webhook === undefined || !backlog.admits(project, waiting, limit)) {
        dropped.set(project, (dropped.get(project) ?? 0) + 1);
        continue;
      }
      admitted.push({ project, bytes });
      changes.push({ key: eventKey.queued(webhook.id, own), put: { subject, record, at } });
      woken.add(webhook.id);
    }
    for (const [project, count] of dropped) changes.push(await this.#drop(project, count));
    const expect = expectationOf(marked);
    if (!(await settled(table.write([...changes, { key: mark, put: { upTo: position }, expect }])))) return false;
    for (const { project, bytes } of admitted) backlog.add(project, bytes);
    for (const count of dropped.values()) backlog.dropped += count;
    wake(woken);
    return true;
  }

  /** Returns the position up to which events are in queues. A feed that began anew is followed from its beginning. */
  #positionOf(marked: Attributes | undefined): bigint {
    const stored = BigInt((marked?.['upTo'] as string | undefined) ?? '0');
    return stored > BigInt(this.#deps.newest() ?? '0') ? 0n : stored;
  }

  #read({ key: item, new: present, position, at }: FeedRecord): Followed | undefined {
    const parts = eventKeyParts.event(item);
    if (parts === undefined || present === undefined) return undefined;
    const event = decodeEvent(present);
    const record = JSON.stringify(eventRecord(event, { key: parts.key, at, position }));
    return { event, item, subject: `${parts.bucketId}/${parts.key}`, record, position, at };
  }

  async #targetOf(
    { project, target }: RecordedEvent,
    found: Map<string, Webhook | undefined>,
  ): Promise<Webhook | undefined> {
    const name = parseWebhookArn(target)?.name;
    if (name === undefined) return undefined;
    const id = `${project}/${name}`;
    if (!found.has(id)) found.set(id, await this.#deps.webhooks.find(project, name));
    return found.get(id);
  }

  async #drop(project: string, count: number): Promise<Change> {
    const key = eventKey.dropped(project);
    const before: Attributes | undefined = await this.#deps.table.get(key);
    return { key, put: { count: numberOf(before?.['count']) + count } };
  }
}

function expectationOf(marked: Attributes | undefined): Expectation {
  if (marked === undefined) return { is: 'absent' };
  return { is: 'equal', attribute: 'upTo', value: marked['upTo'] as string };
}
