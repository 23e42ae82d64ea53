import { describe, expect, it } from 'vitest';
import { EphemeralTable } from '../../../shared/adapters/ephemeral/ephemeral-table.ts';
import { EventBacklog } from '../../../shared/events/backlog.ts';
import { EventFollower } from '../../../shared/events/event-follower.ts';
import { EventQueue, type FullEvent } from '../../../shared/events/event-queue.ts';
import { encodeEvent, type RecordedEvent } from '../../../shared/events/recorded-event.ts';
import { webhookArn, WebhookTargets } from '../../../shared/events/webhook-targets.ts';
import type { EventRecord } from '../../../shared/events/event-record.ts';
import type { FeedRecord } from '../../../shared/ports/key-value-table.ts';
import { eventKey, eventKeyParts } from '../../../shared/storage/table/keys/event-keys.ts';
import { itemKey, isFollowed } from '../../../shared/storage/table/keys/keys.ts';
import { CountedBytes, openSecrets, SetClock } from '../../support/storage/fixed-deps.ts';

const bucketId = '0'.repeat(22);
const event: RecordedEvent = {
  ...{ name: 'ObjectCreated:Put', region: 'r', bucket: 'b', project: 'p', size: 1, etag: 'e', ruleId: 'rule' },
  ...{ requester: 'p:u', remoteAddress: '::1', requestId: 'q', hostId: 'h' },
  target: webhookArn('123456789012', 'hook'),
};

class World {
  readonly table = new EphemeralTable({ isFollowed });
  readonly deps = { table: this.table, clock: new SetClock(), randomness: new CountedBytes(), secrets: openSecrets };
  readonly webhooks = new WebhookTargets(this.deps);
  readonly queue = new EventQueue(this.deps);
  readonly backlog = new EventBacklog();
  readonly woken: string[] = [];

  static async make(): Promise<World> {
    const world = new World();
    await world.webhooks.add('p', 'hook', { url: 'https://hooks.example', batch: 1, format: 's3' }, 10);
    return world;
  }

  follower(limit = Infinity, newest = () => this.table.newest()): EventFollower {
    const { table, webhooks, queue, backlog } = this;
    const wake = (ids: ReadonlySet<string>): void => void this.woken.push(...ids);
    return new EventFollower({ table, webhooks, queue, backlog, limit, newest, wake });
  }

  /** Commits changes of keys. */
  async commit(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.queue.write([{ key: eventKey.event(bucketId, key), put: encodeEvent(event) }]);
  }

  records(after?: string): Promise<readonly FeedRecord[]> {
    return this.table.read(after, 1000);
  }

  async queued(): Promise<string[]> {
    const keys: string[] = [];
    const { id } = (await this.webhooks.find('p', 'hook'))!;
    for await (const event of this.queue.from(id)) {
      const [{ record }] = (await this.queue.full(id, [event])) as [FullEvent];
      keys.push((JSON.parse(record) as EventRecord).s3.object.key);
    }
    return keys;
  }
}

describe('the follower of events', () => {
  it('puts each event into a queue once, however often it is followed, and removes its item', async () => {
    const world = await World.make();
    await world.commit('a', 'b', 'a');
    const records = await world.records();
    await world.follower().follow(records.slice(0, 2));
    await world.follower().follow(records);
    expect(await world.queued()).toEqual(['a', 'b', 'a']);
    expect(await world.table.get(eventKey.event(bucketId, 'a'))).toBeUndefined();
    // Delivered meanwhile: it does not come again.
    const { id } = (await world.webhooks.find('p', 'hook'))!;
    const { events } = await world.queue.after(id, 'events', '', 10);
    await world.queue.remove(id, events);
    await world.follower().follow(records);
    expect(await world.queued()).toEqual([]);
    expect(new Set(world.woken)).toEqual(new Set([id]));
    expect(world.backlog.total.events).toBe(3);
  });

  it('shares the feed with that of another process', async () => {
    const world = await World.make();
    const keys = Array.from({ length: 200 }, (_, at) => `key-${at}`);
    await world.commit(...keys);
    const records = await world.records();
    await Promise.all([world.follower().follow(records), world.follower().follow(records)]);
    expect(await world.queued()).toEqual(keys);
    expect(world.backlog.total.events).toBe(200);
  });

  it('follows a feed that began anew', async () => {
    const world = await World.make();
    await world.queue.write([{ key: itemKey.follower('events'), put: { upTo: '1000' } }]);
    await world.commit('a');
    await world.follower().follow(await world.records());
    expect(await world.queued()).toEqual(['a']);
  });

  it('drops, and counts, what there is no room or no webhook for', async () => {
    const world = await World.make();
    await world.commit('a', 'b', 'c');
    await world.follower(1500).follow(await world.records());
    const left = await world.queued();
    expect(left.length).toBeLessThan(3);
    expect(left.length).toBeGreaterThan(0);
    expect(await world.queue.dropped('p')).toBe(3 - left.length);
    await world.webhooks.remove('p', 'hook');
    await world.commit('d');
    await world.follower().follow((await world.records()).slice(-1));
    expect(await world.queue.dropped('p')).toBe(4 - left.length);
    expect(world.backlog.dropped).toBe(4 - left.length);
  });

  it('reads a key back, whatever it is', () => {
    for (const key of ['a', 'a/b//c', '\u0001', 'ü/'.repeat(300)]) {
      expect(eventKeyParts.event(eventKey.event(bucketId, key))).toEqual({ bucketId, key });
    }
    expect(eventKeyParts.event(itemKey.bucket('b'))).toBeUndefined();
  });
});
