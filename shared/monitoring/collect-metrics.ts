import type { Buckets } from '../storage/buckets/buckets.ts';
import { inParallel } from '../storage/concurrency.ts';
import type { MonitoredBucket } from './monitored-buckets.ts';
import type { Monitoring } from './compose-monitoring.ts';
import { samples } from './resolutions.ts';
import { sampleOf } from './statistics.ts';
import type { UsageCounters } from '../storage/quotas/usage.ts';
import type { Clock } from '../ports/clock.ts';
import type { Telemetry } from '../ports/telemetry.ts';

export interface CollectionDeps {
  readonly monitoring: Monitoring;
  readonly buckets: Buckets;
  readonly usage: UsageCounters;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** The outcome of a collection, or its progress. */
export interface Collected {
  readonly sampled: number;
  readonly failed: number;
}

/** The number of buckets sampled concurrently. */
const width = 8;

/**
 * Samples the size of every monitored bucket and removes expired samples and history. Runs every five minutes; a second
 * run within the same five minutes replaces the sample of the first.
 * @param progress called after each bucket
 */
export async function collectMetrics(
  deps: CollectionDeps,
  progress: (soFar: Collected) => void = () => undefined,
): Promise<Collected> {
  let collected: Collected = { sampled: 0, failed: 0 };
  await inParallel(deps.monitoring.buckets.all(), width, async (entry) => {
    try {
      if (await collectOne(deps, entry)) collected = { ...collected, sampled: collected.sampled + 1 };
    } catch (error) {
      collected = { ...collected, failed: collected.failed + 1 };
      deps.telemetry.problem('a bucket could not be sampled', error, { bucket: entry.bucket });
    }
    progress(collected);
  });
  return collected;
}

async function collectOne(
  { monitoring, buckets, usage, clock }: CollectionDeps,
  { bucketId, bucket, status }: MonitoredBucket,
): Promise<boolean> {
  const now = clock.now();
  const clear = async (): Promise<void> => {
    await monitoring.samples.prune(bucketId, now);
    await monitoring.history.prune(bucketId, now);
  };
  if (status === 'off') {
    // No samples are added, but existing ones still expire.
    if (now % samples.span < samples.step) await clear();
    return false;
  }
  // The bucket purge removes what is left of a deleted bucket.
  if ((await buckets.find(bucket))?.id !== bucketId) return false;
  const sample = sampleOf(await usage.of(bucketId, { mayBeStale: true }));
  const isNewItem = await monitoring.samples.record(bucketId, now, sample);
  if (isNewItem) await clear();
  return true;
}
