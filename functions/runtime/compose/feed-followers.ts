import { UsageFollower } from '../../../shared/metadata/quotas/usage-follower.ts';
import { finishEndedUploads, ReleaseQueue } from '../../../shared/metadata/removal/release-queue.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import { hour } from '../../../shared/ports/durations.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import type { Uploads } from '../../../shared/metadata/uploads/uploads.ts';
import type { Follower } from '../../feed/follow-changes.ts';

/** Milliseconds for which requests on one machine may still read content after it was replaced. */
const localGrace = hour;

/** Returns the followers of the change feed, in order, where one process follows all of it. */
export function feedFollowers(deps: {
  readonly table: KeyValueTable;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly uploads: Uploads;
}): readonly Follower[] {
  const usage = new UsageFollower(deps);
  const released = new ReleaseQueue({ ...deps, grace: localGrace });
  return [
    (batch) => usage.follow(batch),
    (batch) => released.follow(batch),
    (batch) => finishEndedUploads(deps.uploads, batch),
  ];
}
