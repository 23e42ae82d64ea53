import type { Uploads } from '../../../shared/metadata/uploads/uploads.ts';
import { ItemDamaged } from '../../../shared/ports/key-value-table.ts';
import { feedFollowers } from '../compose/feed-followers.ts';
import { FeedRunner } from '../local/feed-runner.ts';
import { keptGrace } from '../local/release/release-grace.ts';
import { Log } from '../telemetry/log.ts';
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
  const log = new Log(process.stderr);
  const followers = feedFollowers({ ...opened, uploads, grace: await keptGrace(opened.table) });
  const feed = new FeedRunner(opened.table, followers, { clock: opened.clock, telemetry: log });
  try {
    return await work(() => feed.drain());
  } finally {
    // A record that cannot be read is a finding of the scrub.
    await feed.stop().catch((error: unknown) => {
      if (!(error instanceof ItemDamaged)) throw error;
      feed.abandon();
    });
    log.flush();
  }
}
