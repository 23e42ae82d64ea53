import type { Amount } from '../../../shared/metadata/amount.ts';
import { ExactQuotas } from '../../../shared/metadata/quotas/exact-quotas.ts';
import type { Usage } from '../../../shared/metadata/quotas/usage.ts';
import type { Limits } from '../../../shared/protocol/limits.ts';
import type { Counters } from '../compose/services.ts';

/** Returns counters and quotas for a process that makes all writes. Both are exact, as they drain the feed first. */
export function exactCounters(usage: Usage, feed: { drain(): Promise<void> }, limits: Limits): Counters {
  // Twice: the first drain removes the parts of ended uploads, and the second one counts the removals.
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
