import type { FeedRecord, KeyValueTable } from '../../shared/ports/key-value-table.ts';
import { EventBacklog } from '../../shared/events/backlog.ts';
import { EventFollower } from '../../shared/events/event-follower.ts';
import { EventQueue } from '../../shared/events/event-queue.ts';
import { WebhookTargets } from '../../shared/events/webhook-targets.ts';
import type { ChangeFeed } from '../../shared/ports/key-value-table.ts';
import type { Secrets } from '../../shared/ports/secrets.ts';
import { UsageFollower } from '../../shared/billing/usage-follower.ts';
import { finishEndedUploads, ReleaseQueue } from '../../shared/storage/removal/release-queue.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { Randomness } from '../../shared/ports/randomness.ts';
import type { Uploads } from '../../shared/storage/uploads/uploads.ts';

/** A follower of the change feed. Records may be delivered again, in other batches; a follower must tolerate that. */
export type Follower = (records: readonly FeedRecord[]) => Promise<void>;

/** The first record of a batch at which a follower failed. All followers have processed the records before it. */
export interface Unfollowed {
  readonly position: string;
  readonly error: unknown;
}

/**
 * Passes a batch of one shard to its followers, one follower after another. If one fails, the batch is repeated record
 * by record, so that a bad record holds up only the records after it.
 */
export async function followChanges(
  followers: readonly Follower[],
  records: readonly FeedRecord[],
): Promise<Unfollowed | undefined> {
  if (records.length === 0) return undefined;
  try {
    await inTurn(followers, records);
    return undefined;
  } catch (error) {
    if (records.length === 1) return { position: records[0]!.position, error };
  }
  for (const record of records) {
    try {
      await inTurn(followers, [record]);
    } catch (error) {
      return { position: record.position, error };
    }
  }
  return undefined;
}

async function inTurn(followers: readonly Follower[], records: readonly FeedRecord[]): Promise<void> {
  for (const follow of followers) await follow(records);
}

/** How events are delivered that a process puts into queues. */
export interface EventDelivery {
  readonly backlog: EventBacklog;
  /** The bytes of events that may wait, by project. */
  readonly limit: number;
  readonly wake: (webhookIds: ReadonlySet<string>) => void;
}

/** The service delivers later: of a command, which ends soon. */
const byTheService = (): EventDelivery => ({ backlog: new EventBacklog(), limit: Infinity, wake: () => undefined });

/**
 * Returns the followers of the change feed, in order, where one process follows all of it.
 * @param deps.grace the milliseconds for which released content is kept at least
 * @param deps.delivery undefined: by the service
 */
export function feedFollowers(deps: {
  readonly table: KeyValueTable & ChangeFeed;
  readonly secrets: Secrets;
  readonly delivery?: EventDelivery;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly uploads: Uploads;
  readonly grace: number;
}): readonly Follower[] {
  const usage = new UsageFollower(deps);
  const released = new ReleaseQueue(deps);
  const { table, delivery = byTheService() } = deps;
  const [webhooks, queue] = [new WebhookTargets(deps), new EventQueue(deps)];
  const events = new EventFollower({ ...delivery, table, webhooks, queue, newest: () => table.newest() });
  return [
    (batch) => usage.follow(batch),
    (batch) => released.follow(batch),
    (batch) => finishEndedUploads(deps.uploads, batch),
    (batch) => events.follow(batch),
  ];
}
