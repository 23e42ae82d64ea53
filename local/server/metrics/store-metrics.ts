import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { usageOfAllBuckets, type NamedUsage } from '../../../shared/storage/quotas/usage.ts';
import { releaseLag } from '../../../shared/storage/removal/release-queue.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { ChangeFeed, KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { LogState } from '../../../shared/telemetry/log-output.ts';
import { scrubState } from '../schedules/scrub-state.ts';
import type { DeliveryState } from '../embedded-service.ts';
import type { AccessLogState } from '../schedules/access-logs.ts';
import type { Metric, Sample } from './exposition.ts';

export interface StoreMetricsDeps {
  readonly table: KeyValueTable & ChangeFeed;
  readonly clock: Clock;
  /** The data directory; undefined if all data is in memory. */
  readonly data: string | undefined;
  readonly log: LogState;
  /** Returns what is known of the delivery of events. */
  readonly events: () => DeliveryState | undefined;
  /** Returns what has become of the records of access logs. */
  readonly accessLogs: () => AccessLogState | undefined;
  /** True if there are series for the size of each bucket. */
  readonly perBucket: boolean;
}

/** The pause between two readings of the buckets, as a multiple of the duration of a reading. */
const restForReads = 20;

/** Metrics of the stored data, and of the lag of background work. */
export class StoreMetrics {
  readonly #deps: StoreMetricsDeps;
  #usage: { readonly buckets: readonly NamedUsage[]; readonly goodUntil: number } | undefined;

  constructor(deps: StoreMetricsDeps) {
    this.#deps = deps;
  }

  async metrics(): Promise<readonly Metric[]> {
    const { table, clock, data, perBucket, log, events, accessLogs } = this.#deps;
    const [buckets, feed, release, scrub, disk] = await Promise.all([
      this.#buckets(),
      feedLag(table, clock.now()),
      releaseLag(table, clock.now()),
      scrubState(table),
      data === undefined ? undefined : diskUse(data),
    ]);
    const ofBuckets = (valueOf: (usage: NamedUsage) => number): readonly Sample[] =>
      perBucket ? buckets.map((usage) => ({ labels: { bucket: usage.bucket }, value: valueOf(usage) })) : [];
    const total = (valueOf: (usage: NamedUsage) => number): number =>
      buckets.reduce((sum, usage) => sum + valueOf(usage), 0);
    return [
      gauge('stillage_log_written', 'Whether the last lines of the log could be written.', log.isWritten ? 1 : 0),
      counter('stillage_log_dropped_lines_total', 'Lines of the log that could not be written.', log.dropped),
      gauge('stillage_buckets', 'Buckets.', buckets.length),
      gauge('stillage_objects', 'Versions that are not delete markers, of all buckets.', total(objectsOf)),
      gauge('stillage_stored_bytes', 'Bytes of all versions, of all buckets.', total(bytesOfVersions)),
      gauge('stillage_besides_bytes', `Bytes of ${besides}, of all buckets.`, total(bytesBesides)),
      {
        ...gauge('stillage_bucket_objects', 'Versions of a bucket that are not delete markers.'),
        samples: ofBuckets(objectsOf),
      },
      {
        ...gauge('stillage_bucket_stored_bytes', 'Bytes of all versions of a bucket.'),
        samples: ofBuckets(bytesOfVersions),
      },
      {
        ...gauge('stillage_bucket_besides_bytes', `Bytes of ${besides} of a bucket. Its quota counts them, too.`),
        samples: ofBuckets(bytesBesides),
      },
      gauge('stillage_feed_records', 'Changes that have not been followed yet.', feed.records),
      gauge('stillage_feed_lag_seconds', 'Age of the oldest change that has not been followed yet.', feed.lag / 1000),
      gauge('stillage_release_lag_seconds', 'For how long deleted content has been due to be freed.', release / 1000),
      ...metricsOfEvents(events(), clock.now()),
      ...metricsOfAccessLogs(accessLogs()),
      ...(disk === undefined
        ? []
        : [
            gauge(
              'stillage_scrub_damaged_blobs',
              'Blobs whose bytes the background scrub found to differ from what was written, in its latest pass.',
              Math.max(scrub.current?.damaged ?? 0, scrub.finished?.damaged ?? 0),
            ),
            gauge(
              'stillage_scrub_progress_ratio',
              'How much of all blobs the present pass of the background scrub has read; 1 between two passes.',
              scrub.current ? scrub.current.parts.read / scrub.current.parts.of : Number(scrub.finished !== undefined),
            ),
            gauge(
              'stillage_scrub_finished_timestamp_seconds',
              'When the background scrub last finished a pass.',
              scrub.finished?.finishedAt && scrub.finished.finishedAt / 1000,
            ),
            gauge('stillage_table_bytes', 'Size of the file of the table, which holds small blobs, too.', disk.table),
            gauge('stillage_filesystem_size_bytes', 'Size of the file system of the data directory.', disk.size),
            gauge('stillage_filesystem_free_bytes', 'What the service can still write there.', disk.free),
          ]),
    ];
  }

  async #buckets(): Promise<readonly NamedUsage[]> {
    const { table, clock } = this.#deps;
    const began = clock.now();
    if (this.#usage && began < this.#usage.goodUntil) return this.#usage.buckets;
    const buckets: NamedUsage[] = [];
    for await (const usage of usageOfAllBuckets(table)) buckets.push(usage);
    const ended = clock.now();
    this.#usage = { buckets, goodUntil: ended + restForReads * (ended - began) };
    return buckets;
  }
}

const objectsOf = ({ objects }: NamedUsage): number => objects;
const bytesOfVersions = (usage: NamedUsage): number => usage.bytesOfVersions;
const bytesBesides = (usage: NamedUsage): number => usage.bytesBesides;
/** What is held besides versions. */
const besides = 'delete markers, open uploads with their parts, and public links';

function gauge(name: string, help: string, value?: number): Metric {
  return { name, type: 'gauge', help, samples: value === undefined ? [] : [{ value }] };
}

function counter(name: string, help: string, value: number): Metric {
  return { ...gauge(name, help, value), type: 'counter' };
}

function metricsOfEvents(events: DeliveryState | undefined, now: number): readonly Metric[] {
  if (events === undefined) return [];
  const { backlog, oldest } = events;
  const age = Math.max(0, now - (oldest() ?? now));
  return [
    gauge('stillage_events_waiting', 'Events that wait for their delivery.', backlog.total.events),
    gauge('stillage_events_waiting_bytes', 'Bytes of events that wait for their delivery.', backlog.total.bytes),
    gauge('stillage_events_oldest_seconds', 'Age of the oldest event that waits for its delivery.', age / 1000),
    counter('stillage_events_delivered_total', 'Events that were delivered.', backlog.delivered),
    counter('stillage_events_given_up_total', 'Events that could not be delivered in time.', backlog.givenUp),
    counter('stillage_events_dropped_total', 'Events for which there was no room or no webhook.', backlog.dropped),
    {
      name: 'stillage_event_failures_total',
      type: 'counter',
      help: 'Calls of webhooks that failed.',
      samples: Object.entries(backlog.failures).map(([reason, value]) => ({ labels: { reason }, value })),
    },
  ];
}

function metricsOfAccessLogs(state: AccessLogState | undefined): readonly Metric[] {
  if (state === undefined) return [];
  const { waitingBytes, objects, delivered, dropped } = state;
  return [
    gauge('stillage_access_log_waiting_bytes', 'Bytes of access logs that wait for their delivery.', waitingBytes),
    counter('stillage_access_log_objects_total', 'Objects with access logs that were stored.', objects),
    counter('stillage_access_log_records_total', 'Records of access logs that were delivered.', delivered),
    {
      name: 'stillage_access_log_dropped_total',
      type: 'counter',
      help: 'Records of access logs that could not be delivered.',
      samples: Object.entries(dropped).map(([reason, value]) => ({ labels: { reason }, value })),
    },
  ];
}

/** Returns the number of records that wait for their followers, and the age of the oldest in milliseconds. */
async function feedLag(feed: ChangeFeed, now: number): Promise<{ readonly records: number; readonly lag: number }> {
  const newest = feed.newest();
  const [oldest] = await feed.read(undefined, 1);
  if (newest === undefined || oldest === undefined) return { records: 0, lag: 0 };
  const records = Number(BigInt(newest) - BigInt(oldest.position)) + 1;
  return { records: Math.max(1, records), lag: Math.max(0, now - oldest.at) };
}

async function diskUse(
  data: string,
): Promise<{ readonly table: number; readonly size: number; readonly free: number }> {
  const [{ size: table }, { blocks, bavail, bsize }] = await Promise.all([
    stat(join(data, 'table', 'data.mdb')),
    statfs(data),
  ]);
  return { table, size: blocks * bsize, free: bavail * bsize };
}
