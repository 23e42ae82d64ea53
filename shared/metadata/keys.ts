import type { ItemKey } from '../ports/key-value-table.ts';

/**
 * The names of all items. The first segment of a partition key says what kind of item it is, and user text only follows it, so
 * an object named `uploads` can never meet a bucket's uploads.
 */
const only = '-';

export const itemKey = {
  bucket: (name: string): ItemKey => ({ pk: `bucket/${name}`, sk: only }),
  bucketDocument: (bucketId: string, kind: string, revision: string): ItemKey => ({
    pk: partition.documents(bucketId),
    sk: `${kind}/${revision}`,
  }),
  /** A bucket among those of its project. */
  ownedBucket: (project: string, name: string): ItemKey => ({ pk: partition.project(project), sk: `bucket/${name}` }),
  /** How many buckets a project has. */
  bucketCount: (project: string): ItemKey => ({ pk: partition.project(project), sk: 'buckets' }),
  /** A bucket among those that have a document of this kind. */
  bucketWith: (kind: string, name: string): ItemKey => ({ pk: partition.bucketsWith(kind), sk: name }),
  /** What the bucket of an id is called. */
  bucketName: (bucketId: string): ItemKey => ({ pk: `bucket-id/${bucketId}`, sk: only }),
  /** A removed bucket whose remains are to be swept. */
  tombstone: (time: string, bucketId: string): ItemKey => ({ pk: partition.tombstones, sk: `${time}/${bucketId}` }),
  noncurrentVersion: (bucketId: string, key: string, instance: string): ItemKey => ({
    pk: partition.noncurrentVersions(bucketId, key),
    sk: instance,
  }),
  details: (id: string): ItemKey => ({ pk: `details/${id}`, sk: only }),
  references: (content: string): ItemKey => ({ pk: `content/${content}`, sk: 'refs' }),
  usage: (bucketId: string, shardId: string): ItemKey => ({ pk: partition.usage(bucketId), sk: shardId }),
  garbage: (spread: number, due: string, content: string, instance: string): ItemKey => ({
    pk: partition.garbage(spread),
    sk: `${due}/${content}/${instance}`,
  }),
  /** The present pass of lifecycle rules, or the last one, and what is left to do of it. */
  lifecyclePass: { pk: 'lifecycle-pass', sk: only } satisfies ItemKey,
  lifecycleSlice: (id: string): ItemKey => ({ pk: partition.lifecycleSlices, sk: id }),
  /** How far a follower of the embedded change feed has come. */
  follower: (name: string): ItemKey => ({ pk: `follower/${name}`, sk: only }),
  /** A value that belongs to the whole deployment, such as the key of continuation tokens. */
  deployment: (name: string): ItemKey => ({ pk: 'deployment', sk: name }),
} as const;

export const partition = {
  project: (id: string): string => `project/${id}`,
  tombstones: 'graves',
  lifecycleSlices: 'lifecycle-slices',
  bucketsWith: (kind: string): string => `buckets-with/${kind}`,
  documents: (bucketId: string): string => `doc/${bucketId}`,
  /** Where the current versions of a bucket lie: see shards.ts. */
  currentVersions: (bucketId: string, shard?: number): string =>
    `head/${bucketId}${shard === undefined ? '' : `/${shard}`}`,
  noncurrentVersions: (bucketId: string, key: string): string => `old/${bucketId}/${key}`,
  usage: (bucketId: string): string => `usage/${bucketId}`,
  garbage: (spread: number): string => `garbage/${spread}`,
} as const;

/** The bucket and the key that the item of a current or a noncurrent version belongs to; undefined for any other item. */
export function objectOf({ pk, sk }: ItemKey): { bucketId: string; key: string; isCurrent: boolean } | undefined {
  const [kind, bucketId] = pk.split('/', 2) as [string, string];
  if (kind === 'head') return { bucketId, key: sk, isCurrent: true };
  if (kind === 'old') return { bucketId, key: pk.slice(`old/${bucketId}/`.length), isCurrent: false };
  return undefined;
}

/** What the partition keys of items begin with that a follower of the change feed looks at. */
export const followedPrefixes = {
  /** The usage counters: current versions, which know their noncurrent ones, and parts. */
  usage: ['head/', 'upload/'],
  /** The release of content: versions, uploads and parts. */
  release: ['head/', 'old/', 'upload/'],
} as const;

const everyFollowedPrefix = [...new Set(Object.values(followedPrefixes).flat())];

/** Whether the change feed must tell of this item: objects, uploads and their parts have followers, nothing else has. */
export function isFollowed({ pk }: ItemKey): boolean {
  return everyFollowedPrefix.some((prefix) => pk.startsWith(prefix));
}

/** Partitions of the garbage queue, so that a busy deployment does not write one of them too fast. */
export const garbagePartitions = 16;

/** The partition of the queue for what speaks of this instance. */
export function garbagePartitionOf(instance: string): number {
  return instance.charCodeAt(instance.length - 1) % garbagePartitions;
}
