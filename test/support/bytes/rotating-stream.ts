import { createHash } from 'node:crypto';
import { hour } from '../../../shared/ports/durations.ts';
import { isFollowed } from '../../../shared/storage/table/keys/keys.ts';
import type { FeedRecord } from '../../../shared/ports/key-value-table.ts';
import type { MemoryTable } from '../storage/memory-table.ts';

/** Records of one shard that a follower gets together, in order. */
export type ShardBatch = readonly FeedRecord[];

/** A shard is closed some four hours after it was opened: https://github.com/opensearch-project/data-prepper/issues/5208 */
const shardLifetime = 4 * hour;
/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html: records are removed after 24 hours. */
const retention = 24 * hour;

/**
 * The stream of a table as in DynamoDB Streams: each partition of the table has one open shard, which is closed after some
 * hours and replaced by a child of another name; a partition that splits has its shard replaced by two. No name ever returns.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html#Streams.Processing
 */
export class RotatingStream {
  readonly #table: MemoryTable;
  #read = 0;
  #partitions: number;
  /** When the shards of each partition were opened: they are not closed together. */
  readonly #opened = new Map<number, number>();
  /** The batches that a follower got, for as long as the stream can deliver them again. */
  #delivered: { readonly at: number; readonly batch: ShardBatch }[] = [];

  constructor(table: MemoryTable, partitions = 1) {
    this.#table = table;
    this.#partitions = partitions;
  }

  /** Splits each partition in two, as a table does that grows. */
  split(): void {
    this.#partitions *= 2;
    this.#opened.clear();
  }

  /** Returns every shard with the records since the previous call. A batch has at most 100 records. */
  next(): readonly ShardBatch[] {
    const shards = new Map<string, FeedRecord[]>();
    const feed = this.#table.feed.splice(0);
    for (const record of feed) {
      this.#read += 1;
      if (!isFollowed(record.key)) continue;
      const shardId = this.#shardOf(record);
      const records = shards.get(shardId) ?? [];
      records.push({ ...record, shardId, position: String(10n ** 39n + BigInt(this.#read)) });
      shards.set(shardId, records);
    }
    const batches = [...shards.values()].flatMap((records) => cut(records, 100));
    this.#delivered.push(...batches.map((batch) => ({ at: batch[0]!.at, batch })));
    return batches;
  }

  /** Returns the batches that a follower got before and the stream still has: Lambda may deliver any of them again. */
  again(now: number): readonly ShardBatch[] {
    this.#delivered = this.#delivered.filter(({ at }) => now - at < retention);
    return this.#delivered.map(({ batch }) => batch);
  }

  #shardOf({ key, at }: FeedRecord): string {
    const partition = createHash('md5').update(key.pk).digest()[0]! % this.#partitions;
    const opened = this.#opened.get(partition) ?? at;
    const since = at - opened < shardLifetime ? opened : at;
    this.#opened.set(partition, since);
    // As they are written: shardId-00000001567891234567-abcdef01
    return `shardId-${String(since).padStart(20, '0')}-${String(partition).padStart(8, '0')}`;
  }
}

function cut<Element>(elements: readonly Element[], size: number): Element[][] {
  const pieces: Element[][] = [];
  for (let at = 0; at < elements.length; at += size) pieces.push(elements.slice(at, at + size));
  return pieces;
}
