import type { Amount } from '../../../shared/metadata/amount.ts';
import { ExactQuotas } from '../../../shared/metadata/quotas/exact-quotas.ts';
import type { Usage } from '../../../shared/metadata/quotas/usage.ts';
import type { Limits } from '../../../shared/protocol/limits.ts';
import type { Counters } from '../compose/services.ts';

/** Counters and quotas of one process that makes all writes: both are exact, because the rest of the feed is counted first. */
export function exactCounters(usage: Usage, feed: { drain(): Promise<void> }, limits: Limits): Counters {
  // Twice, because the first drain tidies up uploads that have ended, and the second one counts that.
  const held = async (bucketId: string): Promise<Amount> => {
    await feed.drain();
    await feed.drain();
    return usage.held(bucketId);
  };
  return {
    usage: { of: (bucketId) => feed.drain().then(() => usage.of(bucketId)) },
    quotas: new ExactQuotas(held, { bytes: limits.bucketBytes, objects: limits.bucketObjects }),
  };
}
