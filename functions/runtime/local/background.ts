import { ExactQuotas } from '../../../shared/metadata/quotas/exact-quotas.ts';
import type { Amount } from '../../../shared/metadata/amount.ts';
import { BucketPurge } from '../../../shared/metadata/removal/bucket-purge.ts';
import { LifecyclePasses } from '../../../shared/metadata/lifecycle/lifecycle-passes.ts';
import { Release } from '../../../shared/metadata/removal/release.ts';
import { minute } from '../../../shared/ports/durations.ts';
import type { Services } from '../../../shared/protocol/operation.ts';
import { feedFollowers } from '../compose/feed-followers.ts';
import type { Log } from '../telemetry/log.ts';
import { FeedRunner } from './feed-runner.ts';
import { scheduleLifecycle } from './lifecycle-schedule.ts';
import type { LocalServices } from './local-services.ts';
import { scheduleMonitoring } from './monitoring-schedule.ts';
import { repeat } from './schedule.ts';
import type { StartOptions } from './settings.ts';

/** What one process of the service does besides requests: it follows the feed and keeps the schedules. */
export interface Background {
  readonly feed: FeedRunner;
  /** Exact, because what is still in the feed is counted first. */
  readonly counters: { readonly usage: Pick<Services['usage'], 'of'>; readonly quotas: ExactQuotas };
  /** Ends the schedules, and follows the feed to its end. */
  stop(): Promise<void>;
}

/** Starts the work of the service that nobody waits for. */
export function startBackground(
  options: StartOptions,
  { data: { table, blobs }, clock, randomness, services, limits }: LocalServices,
  log: Log,
): Background {
  const { usage, uploads } = services;
  const { manifests } = services.contents;
  const release = new Release({ table, blobs, clock, randomness, manifests, uploads });
  const bucketPurge = new BucketPurge({ table, uploads, clock, randomness });
  const feed = new FeedRunner(table, feedFollowers({ table, clock, randomness, uploads }), log);
  // Twice, because the first drain tidies up uploads that have ended, and the second one counts that.
  const held = async (bucketId: string): Promise<Amount> => {
    await feed.drain();
    await feed.drain();
    return usage.held(bucketId);
  };
  const quotas = new ExactQuotas(held, { bytes: limits.bucketBytes, objects: limits.bucketObjects });
  const exactUsage = { of: (bucketId: string) => feed.drain().then(() => usage.of(bucketId)) };
  const schedules = [
    repeat(minute, () => release.sweep(), log, 'freeing released content failed'),
    repeat(minute, () => bucketPurge.sweep(), log, 'sweeping removed buckets failed'),
    repeat(minute, () => services.publicLinks.sweep(), log, 'sweeping public links failed'),
    scheduleLifecycle(
      { ...services, passes: new LifecyclePasses({ table, clock, randomness }) },
      options.lifecycleDaySeconds,
      log,
    ),
    scheduleMonitoring({ ...services, usage: exactUsage, telemetry: log, region: options.region }, options),
  ];
  return {
    feed,
    counters: { usage: exactUsage, quotas },
    stop: async () => {
      await Promise.all(schedules.map((schedule) => schedule.stop()));
      await feed.stop();
    },
  };
}
