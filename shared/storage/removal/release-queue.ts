import { BlobsNotRemoved } from '../../ports/blob-store.ts';
import type { Clock } from '../../ports/clock.ts';
import { hour } from '../../ports/durations.ts';
import type { Attributes, Change, FeedRecord, KeyValueTable } from '../../ports/key-value-table.ts';
import { sortableTime } from '../table/keys/ids.ts';
import * as keyParts from '../table/keys/key-parts.ts';
import { garbagePartitionOf, garbagePartitions, itemKey, partition } from '../table/keys/keys.ts';
import { separately } from '../table/separate-changes.ts';
import { uploadKeyParts } from '../table/keys/upload-keys.ts';
import { thingsOf } from '../versions/versions.ts';
import { inParallel } from '../concurrency.ts';
import { finishedUploadTime } from '../uploads/end-upload.ts';
import type { Uploads } from '../uploads/uploads.ts';

/** The key of a version, by which a queue entry allows the version to be looked up again. */
export interface Place {
  readonly bucketId: string;
  readonly key: string;
}

/** Something that a version referred to when last seen: its content or its details. */
interface Candidate {
  readonly place: Place;
  readonly instance: string;
  /** `b…` or `m…` for content, `d…` for details. */
  readonly thing: string;
  /** The bytes of a content. */
  readonly size: number;
}

/** The number of part numbers processed concurrently. */
const partsTogether = 16;
/** The code of entries for ended uploads. */
export const uploadCode = 'u';
/** The time for which a part upload that began before its multipart upload ended may still complete. */
const uploadGrace = hour;

/**
 * Follows the change feed and queues what may be freed after the grace period; {@link Release} decides. Repeated
 * records do no harm.
 */
export class ReleaseQueue {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #uploads: Uploads;
  readonly #grace: number;
  readonly #width: number | undefined;

  /**
   * @param deps.grace the milliseconds during which readers that found a version may still read it, and a restored
   * table may need it
   * @param deps.width the number of writes at a time. Default: what suits the table
   */
  constructor(deps: { table: KeyValueTable; clock: Clock; uploads: Uploads; grace: number; width?: number }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#uploads = deps.uploads;
    this.#grace = deps.grace;
    this.#width = deps.width;
  }

  /** Queues what the records released, and releases parts that were uploaded again too often. */
  async follow(records: readonly FeedRecord[]): Promise<void> {
    const now = this.#clock.now();
    const entries = new Map<string, Change>();
    const queue = (delay: number, thing: string, instance: string, put: Attributes): void => {
      const key = itemKey.garbage(garbagePartitionOf(instance), sortableTime(now + delay), thing, instance);
      entries.set(key.sk, { key, put });
    };
    for (const { thing, instance, place, size } of records.flatMap(candidates))
      queue(this.#grace, thing, instance, { ...place, ...(size > 0 && { size }) });
    const added = [...new Map(records.flatMap(addedPart).map((part) => [`${part.id}/${part.number}`, part])).values()];
    for (let at = 0; at < added.length; at += partsTogether) {
      const some = added.slice(at, at + partsTogether);
      await Promise.all(some.map(({ id, number }) => this.#uploads.releaseOldParts(id, number)));
    }
    for (const id of records.flatMap(endedUpload)) {
      // At once, again for parts that were still arriving, and finally for the state itself.
      const delays = [0, uploadGrace, finishedUploadTime + uploadGrace];
      for (const delay of delays) queue(delay, uploadCode, id, { upload: id });
    }
    const { writes, width } = separately(this.#table, [...entries.values()]);
    await inParallel(writes, this.#width ?? width, async (some) => {
      const { outcome } = await this.#table.write(some);
      if (outcome !== 'written') throw new Error('the release queue could not be written');
    });
  }
}

/**
 * Cleans up ended uploads at once if one process follows the feed without a time limit, so that their parts stop counting towards
 * quotas. Otherwise, and if blobs cannot be removed, the sweep does it, from the queue entries: a request that waits for the feed must not
 * wait for these.
 */
export async function finishEndedUploads(uploads: Uploads, records: readonly FeedRecord[]): Promise<void> {
  for (const id of records.flatMap(endedUpload)) {
    try {
      await uploads.finish(id);
    } catch (error) {
      if (!(error instanceof BlobsNotRemoved)) throw error;
    }
  }
}

/** Returns what a record of a current or noncurrent version may have released. */
function candidates({ key, old, new: present }: FeedRecord): readonly Candidate[] {
  const object = keyParts.version(key);
  if (object === undefined || old === undefined) return [];
  const place = { bucketId: object.bucketId, key: object.key };
  const instance = old['i'] as string;
  const kept = present?.['i'] === instance ? thingsOf(present) : [];
  const size = typeof old['s'] === 'number' ? old['s'] : 0;
  return thingsOf(old)
    .filter((thing) => !kept.includes(thing))
    .map((thing) => ({ place, instance, thing, size: thing.startsWith('d') ? 0 : size }));
}

/** Returns the part that a record shows as added. */
function addedPart({
  key,
  old,
  new: present,
}: FeedRecord): readonly { readonly id: string; readonly number: number }[] {
  const part = uploadKeyParts.part(key);
  if (part === undefined || old !== undefined || present === undefined) return [];
  return [{ id: uploadKeyParts.upload(key)!, number: part.number }];
}

/** Returns the id of the upload that a record shows as ended. */
function endedUpload({ key, old, new: present }: FeedRecord): readonly string[] {
  const id = uploadKeyParts.upload(key);
  const hasEnded = old?.['state'] === 'open' && present !== undefined && present['state'] !== 'open';
  return id !== undefined && hasEnded ? [id] : [];
}

/** Returns for how many milliseconds the oldest entry of the release queue has been due. A sweep that keeps up leaves at most a minute. */
export async function releaseLag(table: KeyValueTable, now: number): Promise<number> {
  const numbers = Array.from({ length: garbagePartitions }, (_, number) => number);
  const oldest = await Promise.all(
    numbers.map((number) => table.query(partition.garbage(number), { limit: 1, mayBeStale: true })),
  );
  const due = oldest.flatMap(({ items }) => items).map(({ key }) => keyParts.garbage(key).due);
  return Math.max(0, ...due.map((time) => now - time));
}
