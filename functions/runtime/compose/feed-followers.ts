import { UsageFollower } from '../../../shared/metadata/quotas/usage-follower.ts';
import { finishEndedUploads, ReleaseQueue } from '../../../shared/metadata/removal/release-queue.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import type { Uploads } from '../../../shared/metadata/uploads/uploads.ts';
import type { Follower } from '../../feed/follow-changes.ts';

/**
 * Returns the followers of the change feed, in order, where one process follows all of it.
 * @param deps.grace the milliseconds for which released content is kept at least
 */
export function feedFollowers(deps: {
  readonly table: KeyValueTable;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly uploads: Uploads;
  readonly grace: number;
}): readonly Follower[] {
  const usage = new UsageFollower(deps);
  const released = new ReleaseQueue(deps);
  return [
    (batch) => usage.follow(batch),
    (batch) => released.follow(batch),
    (batch) => finishEndedUploads(deps.uploads, batch),
  ];
}
