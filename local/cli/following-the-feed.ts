import type { Uploads } from '../../shared/storage/uploads/uploads.ts';
import { ItemDamaged } from '../../shared/ports/key-value-table.ts';
import { feedFollowers } from '../../functions/compose/follow-changes.ts';
import { FeedRunner } from '../server/schedules/feed-runner.ts';
import { keptGrace } from '../server/release/release-grace.ts';
import type { Deps } from './data-deps.ts';

/**
 * Follows the change feed of a data directory while `work` runs, as a service does, which may run at the same time.
 * @param work gets a function that follows the feed to its end
 */
export async function followingTheFeed<Result>(
  opened: Deps,
  uploads: Uploads,
  work: (drain: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const followers = feedFollowers({ ...opened, uploads, grace: await keptGrace(opened.table) });
  // What fails in between is tried again at the end, and the command reports its error then.
  const telemetry = { problem: () => undefined };
  const feed = new FeedRunner(opened.table, followers, { clock: opened.clock, telemetry });
  try {
    return await work(() => feed.drain());
  } finally {
    // A record that cannot be read is a finding of the scrub.
    await feed.stop().catch((error: unknown) => {
      if (!(error instanceof ItemDamaged)) throw error;
      feed.abandon();
    });
  }
}
