import type { Attributes, FeedRecord, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import { numberOf } from '../storage/table/attribute-values.ts';
import { writeToken } from '../storage/table/keys/ids.ts';
import * as keyParts from '../storage/table/keys/key-parts.ts';
import { itemKey } from '../storage/table/keys/keys.ts';
import { isSameDay } from '../storage/table/keys/days.ts';
import { billed, type Step } from './storage-day.ts';
import { StorageMeter } from './storage-meter.ts';
import { decodeCurrentVersion } from '../storage/versions/versions.ts';
import { heldBy } from '../storage/quotas/held.ts';
import type { UsageFold } from './usage-fold.ts';
import {
  decodeCounters,
  differenceOfCounters,
  encodeCounters,
  noCounters,
  sumOfCounters,
  type Counters,
} from '../storage/quotas/usage-rows.ts';
import { Usage } from '../storage/quotas/usage.ts';
import { asRead } from '../storage/table/optimistic-write.ts';

/** A record not counted yet, and the time it counts from. */
interface Fresh {
  readonly record: FeedRecord;
  /** The change that it makes to its bucket's usage. */
  readonly delta: Counters;
  readonly at: number;
}

/**
 * Maintains the usage counters from the change feed. A record of a current version describes the whole change of its
 * key, because a current version stores the count and bytes of the noncurrent ones. A high-water mark per bucket and
 * shard keeps the counters exact, however often and in whatever batches records are delivered again. The same mark
 * protects the storage days of the bill, which are written together with the counters.
 */
export class UsageFollower extends Usage {
  readonly #table: KeyValueTable;
  readonly #randomness: Randomness;
  readonly #storage: StorageMeter;
  readonly #fold: UsageFold | undefined;

  /** @param deps.fold where shards are closed and replaced; undefined if there is only one shard */
  constructor(deps: { table: KeyValueTable; randomness: Randomness; fold?: UsageFold }) {
    super(deps);
    this.#table = deps.table;
    this.#randomness = deps.randomness;
    this.#storage = new StorageMeter(deps.table);
    this.#fold = deps.fold;
  }

  /** Counts a batch of records, oldest first. Skips records counted before. */
  async follow(records: readonly FeedRecord[]): Promise<void> {
    const groups = new Map<string, { bucketId: string; shardId: string; records: FeedRecord[] }>();
    for (const record of records) {
      const bucketId = countedFor(record);
      if (bucketId === undefined) continue;
      const { shardId } = record;
      const name = `${bucketId} ${shardId}`;
      const group = groups.get(name) ?? { bucketId, shardId, records: [] };
      group.records.push(record);
      groups.set(name, group);
    }
    for (const { bucketId, shardId, records: own } of groups.values()) await this.#count(bucketId, shardId, own);
  }

  /** Counts day by day, so that each write changes one day of the bill. */
  async #count(bucketId: string, shardId: string, records: readonly FeedRecord[]): Promise<void> {
    const key = itemKey.usage(bucketId, shardId);
    for (let left = records; left.length > 0;) {
      const row = await this.#table.get(key);
      const fresh = firstDay(left, row);
      const last = fresh.at(-1);
      if (last === undefined) return;
      const project = await this.#payer(bucketId, row, fresh);
      // The bucket is gone, its counters too: a public link may expire long after.
      if (project === undefined && row === undefined) return;
      const counted = decodeCounters(row);
      const days =
        project === undefined
          ? []
          : [await this.#storage.change({ project, bucketId, shardId }, fresh.map(stepOf), row && billed(counted))];
      const { outcome } = await this.#table.write([
        {
          key,
          put: {
            ...encodeCounters(fresh.map(({ delta }) => delta).reduce(sumOfCounters, counted)),
            at: last.at,
            upTo: last.record.position,
            ...(project !== undefined && { project }),
            r: writeToken(this.#randomness),
          },
          expect: asRead(row),
        },
        ...days,
      ]);
      if (outcome !== 'written') continue;
      left = left.slice(left.indexOf(last.record) + 1);
      // A new row was added: the time to fold old ones.
      if (row === undefined) await this.#fold?.fold(bucketId, last.at);
    }
  }

  /**
   * Returns the project that pays for a bucket's storage: the bucket's own project, even after the bucket is deleted.
   */
  async #payer(bucketId: string, row: Attributes | undefined, fresh: readonly Fresh[]): Promise<string | undefined> {
    if (typeof row?.['project'] === 'string') return row['project'];
    const named = await this.#table.get(itemKey.bucketName(bucketId));
    if (named) return named['project'] as string;
    for (const { record } of fresh) {
      const image = record.new ?? record.old;
      if (image && keyParts.version(record.key) !== undefined) {
        const { owner, foreign } = decodeCurrentVersion(image);
        if (!foreign) return owner;
      }
    }
    return undefined;
  }
}

/** Returns the uncounted records of the first day. Time never goes backwards for the counters of a bucket. */
function firstDay(records: readonly FeedRecord[], row: Attributes | undefined): readonly Fresh[] {
  const upTo = BigInt((row?.['upTo'] as string | undefined) ?? '-1');
  const fresh: Fresh[] = [];
  let at = numberOf(row?.['at']);
  for (const record of records) {
    if (BigInt(record.position) <= upTo) continue;
    at = Math.max(at, record.at);
    if (fresh.length > 0 && !isSameDay(at, fresh[0]!.at)) break;
    fresh.push({ record, delta: deltaOf(record), at });
  }
  return fresh;
}

/** Returns what a bucket holds more after the change than before. */
function deltaOf({ key, old, new: present }: FeedRecord): Counters {
  const before = (old && heldBy(key, old)) ?? noCounters;
  const after = (present && heldBy(key, present)) ?? noCounters;
  return differenceOfCounters(after, before);
}

function stepOf({ at, delta }: Fresh): Step {
  return { at, ...billed(delta) };
}

/** Returns the bucket whose counters a record changes, if any. */
function countedFor({ key, old, new: present }: FeedRecord): string | undefined {
  const image = present ?? old;
  return image && heldBy(key, image)?.bucketId;
}
