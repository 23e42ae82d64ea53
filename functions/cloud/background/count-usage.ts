import { Buckets } from '../../../shared/storage/buckets/buckets.ts';
import { FullBuckets } from '../../../shared/storage/quotas/flagged-quotas.ts';
import { UsageFold } from '../../../shared/billing/usage-fold.ts';
import { UsageFollower } from '../../../shared/billing/usage-follower.ts';
import { defaultLimits, type Limits } from '../../../shared/protocol/limits.ts';
import { day } from '../../../shared/ports/durations.ts';
import { backgroundHandler } from './background-handler.ts';
import { followBatches } from './stream-batches.ts';

/**
 * A stream keeps a record, and Lambda retries it, for a day: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html.
 * Twice that, for a batch in progress when its records expire.
 */
const shardLifetime = 2 * day;

/** Follows the change feed: counts the contents of buckets, and then flags full buckets. */
export const handler = backgroundHandler('count-usage', ({ log, ...deps }) => {
  const usage = new UsageFollower({ ...deps, fold: new UsageFold({ ...deps, shardLifetime }) });
  const limits = { ...defaultLimits, ...(JSON.parse(deps.setting('STILLAGE_LIMITS')) as Partial<Limits>) };
  const defaults = { bytes: limits.bucketBytes, objects: limits.bucketObjects };
  const full = new FullBuckets({ ...deps, buckets: new Buckets(deps), usage, defaults });
  return followBatches([(batch) => usage.follow(batch), (batch) => full.follow(batch)], {
    table: deps.setting('STILLAGE_TABLE'),
    telemetry: log,
  });
});
