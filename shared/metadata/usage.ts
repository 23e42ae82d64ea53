import type { Attributes, FeedRecord, Item, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import { writeToken } from './ids.ts';
import { itemKey, objectOf, partition } from './keys.ts';
import { decodeHead } from './versions.ts';

/** What a bucket holds: versions that are not markers, and the bytes of all versions. */
export interface BucketUsage {
  readonly objects: number;
  readonly bytes: number;
}

/** Where the usage of a bucket can be read. */
export interface UsageCounters {
  of(bucketId: string): Promise<BucketUsage>;
}

/** How a batch of one lane's records changes one bucket's usage. */
interface Delta extends BucketUsage {
  /** Bytes of parts. */
  readonly parts: number;
  readonly upTo: string;
}

/**
 * The usage counters, kept by a follower of the change feed. One record of a head is the whole change of its key, since a
 * head knows the count and bytes of its history. A high-water mark per bucket and lane makes the counts exact however often
 * and in whatever batches records are delivered again.
 */
export class Usage implements UsageCounters {
  readonly #table: KeyValueTable;
  readonly #randomness: Randomness;

  constructor(rooms: { table: KeyValueTable; randomness: Randomness }) {
    this.#table = rooms.table;
    this.#randomness = rooms.randomness;
  }

  /** The sum over all lanes. */
  async of(bucketId: string): Promise<BucketUsage> {
    const { items } = await this.#table.query(partition.usage(bucketId));
    return sumOf(items);
  }

  /** As {@link of}, with the parts of uploads that are open or not tidied up yet. */
  async held(bucketId: string): Promise<BucketUsage> {
    const { items } = await this.#table.query(partition.usage(bucketId));
    const parts = items.reduce((sum, { attributes }) => sum + numberOf(attributes['parts']), 0);
    const { objects, bytes } = sumOf(items);
    return { objects, bytes: bytes + parts };
  }

  /** Counts a batch of records, oldest first. Records it has counted before are skipped. */
  async follow(records: readonly FeedRecord[]): Promise<void> {
    const groups = new Map<string, { bucketId: string; lane: string; records: FeedRecord[] }>();
    for (const record of records) {
      const bucketId = countedFor(record);
      if (bucketId === undefined) continue;
      const { lane } = record;
      const name = `${bucketId} ${lane}`;
      const group = groups.get(name) ?? { bucketId, lane, records: [] };
      group.records.push(record);
      groups.set(name, group);
    }
    for (const { bucketId, lane, records: own } of groups.values()) await this.#count(bucketId, lane, own);
  }

  async #count(bucketId: string, lane: string, records: readonly FeedRecord[]): Promise<void> {
    const key = itemKey.usage(bucketId, lane);
    for (;;) {
      const row = await this.#table.get(key);
      const delta = deltaOf(records, (row?.['upTo'] as string | undefined) ?? '-1');
      if (delta === undefined) return;
      const written = await this.#table.write([
        {
          key,
          put: {
            objects: numberOf(row?.['objects']) + delta.objects,
            bytes: numberOf(row?.['bytes']) + delta.bytes,
            parts: numberOf(row?.['parts']) + delta.parts,
            upTo: delta.upTo,
            r: writeToken(this.#randomness),
          },
          expect: row === undefined ? { is: 'absent' } : { is: 'equal', attribute: 'r', value: row['r'] as string },
        },
      ]);
      if (written.outcome === 'written') return;
    }
  }
}

function deltaOf(records: readonly FeedRecord[], upTo: string): Delta | undefined {
  const fresh = records.filter(({ position }) => BigInt(position) > BigInt(upTo));
  const last = fresh.at(-1);
  if (last === undefined) return undefined;
  let objects = 0;
  let bytes = 0;
  let parts = 0;
  for (const record of fresh) {
    if (partBucket(record) !== undefined) {
      parts += numberOf(record.new?.['size']) - numberOf(record.old?.['size']);
      continue;
    }
    const before = held(record.old);
    const after = held(record.new);
    objects += after.objects - before.objects;
    bytes += after.bytes - before.bytes;
  }
  return { objects, bytes, parts, upTo: last.position };
}

/** The bucket whose counters a record changes, if it does. */
function countedFor(record: FeedRecord): string | undefined {
  const object = objectOf(record.key);
  return object ? (object.isHead ? object.bucketId : undefined) : partBucket(record);
}

/** The bucket of a part that came or went. */
function partBucket({ key, old, new: present }: FeedRecord): string | undefined {
  if (!key.pk.startsWith('upload/') || !key.sk.startsWith('p/')) return undefined;
  return (present ?? old)?.['bucketId'] as string | undefined;
}

/** The sum over all lanes. */
function sumOf(items: readonly Item[]): BucketUsage {
  return items.reduce(
    (sum, { attributes }) => ({
      objects: sum.objects + numberOf(attributes['objects']),
      bytes: sum.bytes + numberOf(attributes['bytes']),
    }),
    { objects: 0, bytes: 0 },
  );
}

/** What a key held at the time of one image of its head. */
export function held(image: Attributes | undefined): BucketUsage {
  if (image === undefined) return { objects: 0, bytes: 0 };
  const head = decodeHead(image);
  return {
    objects: (head.marker ? 0 : 1) + head.olderCount - head.olderMarkers,
    bytes: head.size + head.olderBytes,
  };
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
