import { backgroundHandler } from './background-handler.ts';
import { releaseDeps } from './release.ts';
import { followBatches } from './stream-batches.ts';

/** Follows the change feed: queues released content and ended uploads for removal. */
export const handler = backgroundHandler('release-content', (deps) => {
  const { queue } = releaseDeps(deps);
  return followBatches([(batch) => queue.follow(batch)], {
    table: deps.setting('STILLAGE_TABLE'),
    telemetry: deps.log,
  });
});
