import type { Clock } from '../../ports/clock.ts';
import { hour } from '../../ports/durations.ts';
import type { Attributes, Change, FeedRecord, KeyValueTable } from '../../ports/key-value-table.ts';
import { sortableTime } from '../table/ids.ts';
import * as keyParts from '../table/key-parts.ts';
import { garbagePartitionOf, itemKey } from '../table/keys.ts';
import { uploadKeyParts } from '../table/upload-keys.ts';
import { thingsOf } from '../objects/versions.ts';
import { inParallel } from '../in-parallel.ts';
import { finishedUploadTime } from '../uploads/end-upload.ts';
import type { Uploads } from '../uploads/uploads.ts';

/** What an entry must say so that the version it speaks of can be looked for again. */
export interface Place {
  readonly bucketId: string;
  readonly key: string;
}

/** A thing a version referred to when it was last seen: its content, or its details. */
interface Candidate {
  readonly place: Place;
  readonly instance: string;
  /** `b…` or `m…` for content, `d…` for details. */
  readonly thing: string;
}

/** Entries that are written at a time. */
const defaultWidth = 16;
/** Numbers of parts that are looked at at once. */
const partsTogether = 16;
/** An entry of this kind speaks of an upload that ended. */
export const uploadCode = 'u';
/** How long a part may still arrive that began before its upload ended. */
const uploadGrace = hour;

/** Follows the change feed, and queues what may be freed once the grace is over: {@link Release} decides. Any repetition is harmless. */
export class ReleaseQueue {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #uploads: Uploads;
  readonly #grace: number;
  readonly #width: number;

  /** @param deps.grace milliseconds for which readers that found a version may still read it, and a table that is put back may need it */
  constructor(deps: { table: KeyValueTable; clock: Clock; uploads: Uploads; grace: number; width?: number }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#uploads = deps.uploads;
    this.#grace = deps.grace;
    this.#width = deps.width ?? defaultWidth;
  }

  /** Queues what the records let go of, and lets go of parts that were uploaded again too often. */
  async follow(records: readonly FeedRecord[]): Promise<void> {
    const now = this.#clock.now();
    const entries = new Map<string, Change>();
    const queue = (delay: number, thing: string, instance: string, put: Attributes): void => {
      const key = itemKey.garbage(garbagePartitionOf(instance), sortableTime(now + delay), thing, instance);
      entries.set(key.sk, { key, put });
    };
    for (const { thing, instance, place } of records.flatMap(candidates))
      queue(this.#grace, thing, instance, { ...place });
    const added = [...new Map(records.flatMap(addedPart).map((part) => [`${part.id}/${part.number}`, part])).values()];
    for (let at = 0; at < added.length; at += partsTogether) {
      const some = added.slice(at, at + partsTogether);
      await Promise.all(some.map(({ id, number }) => this.#uploads.releaseOldParts(id, number)));
    }
    for (const id of records.flatMap(endedUpload)) {
      // At once, once more for parts that were under way, and at last for the state itself.
      const delays = [0, uploadGrace, finishedUploadTime + uploadGrace];
      for (const delay of delays) queue(delay, uploadCode, id, { upload: id });
    }
    // One by one: together they would be a transaction, at twice the price, and nobody needs them all or none.
    await inParallel(entries.values(), this.#width, async (entry) => {
      const { outcome } = await this.#table.write([entry]);
      if (outcome !== 'written') throw new Error('the garbage queue could not be written');
    });
  }
}

/**
 * Clears up at once after uploads that ended, where one process follows the feed and nothing limits its time: so their parts do not count
 * towards quotas any longer. Elsewhere the sweep does it, by the entries of the queue.
 */
export async function finishEndedUploads(uploads: Uploads, records: readonly FeedRecord[]): Promise<void> {
  for (const id of records.flatMap(endedUpload)) await uploads.finish(id);
}

/** What one record of a current or noncurrent version may have let go of. */
function candidates({ key, old, new: present }: FeedRecord): readonly Candidate[] {
  const object = keyParts.version(key);
  if (object === undefined || old === undefined) return [];
  const place = { bucketId: object.bucketId, key: object.key };
  const instance = old['i'] as string;
  const kept = present?.['i'] === instance ? thingsOf(present) : [];
  return thingsOf(old)
    .filter((thing) => !kept.includes(thing))
    .map((thing) => ({ place, instance, thing }));
}

/** The part that a record shows to have come. */
function addedPart({
  key,
  old,
  new: present,
}: FeedRecord): readonly { readonly id: string; readonly number: number }[] {
  const part = uploadKeyParts.part(key);
  if (part === undefined || old !== undefined || present === undefined) return [];
  return [{ id: uploadKeyParts.upload(key)!, number: part.number }];
}

/** The id of an upload that a record shows to have ended. */
function endedUpload({ key, old, new: present }: FeedRecord): readonly string[] {
  const id = uploadKeyParts.upload(key);
  const hasEnded = old?.['state'] === 'open' && present !== undefined && present['state'] !== 'open';
  return id !== undefined && hasEnded ? [id] : [];
}
