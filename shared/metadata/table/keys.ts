import type { ItemKey } from '../../ports/key-value-table.ts';

/**
 * The names of all items. The first segment of a partition key says what kind of item it is, and user text only follows it, so
 * an object named `uploads` can never meet a bucket's uploads.
 */
export const only = '-';
export const references = 'refs';
export const ownedBuckets = 'bucket/';
export const bucketCount = 'buckets';

/** What the partition keys of some kinds of items begin with. */
export const kinds = {
  bucket: 'bucket/',
  bucketName: 'bucket-id/',
  bucketsWith: 'buckets-with/',
  project: 'project/',
  document: 'doc/',
  currentVersion: 'head/',
  noncurrentVersion: 'old/',
  content: 'content/',
  details: 'details/',
  upload: 'upload/',
  openUploads: 'uploads/',
} as const;

/** What the sort keys of a project's buckets begin with, in the order of their names. */
export const ownedBucketPrefix = (prefix: string): string => ownedBuckets + prefix;

export const itemKey = {
  bucket: (name: string): ItemKey => ({ pk: kinds.bucket + name, sk: only }),
  bucketDocument: (bucketId: string, kind: string, revision: string): ItemKey => ({
    pk: partition.documents(bucketId),
    sk: `${kind}/${revision}`,
  }),
  /** A bucket among those of its project. */
  ownedBucket: (project: string, name: string): ItemKey => ({
    pk: partition.project(project),
    sk: ownedBuckets + name,
  }),
  /** How many buckets a project has. */
  bucketCount: (project: string): ItemKey => ({ pk: partition.project(project), sk: bucketCount }),
  /** A bucket among those that have a document of this kind. */
  bucketWith: (kind: string, name: string): ItemKey => ({ pk: partition.bucketsWith(kind), sk: name }),
  /** What the bucket of an id is called. */
  bucketName: (bucketId: string): ItemKey => ({ pk: kinds.bucketName + bucketId, sk: only }),
  /** A removed bucket whose remains are to be swept. */
  tombstone: (time: string, bucketId: string): ItemKey => ({ pk: partition.tombstones, sk: `${time}/${bucketId}` }),
  noncurrentVersion: (bucketId: string, key: string, instance: string): ItemKey => ({
    pk: partition.noncurrentVersions(bucketId, key),
    sk: instance,
  }),
  details: (id: string): ItemKey => ({ pk: kinds.details + id, sk: only }),
  references: (content: string): ItemKey => ({ pk: partition.content(content), sk: references }),
  usage: (bucketId: string, shardId: string): ItemKey => ({ pk: partition.usage(bucketId), sk: shardId }),
  /** The list of slices of a manifest. */
  manifest: (id: string): ItemKey => ({ pk: partition.content(`m${id}`), sk: only }),
  /** Two slices may begin at the same byte only if the parts between them are empty, so the first part's number is there, too. */
  manifestSlice: (id: string, firstByte: number, firstPart: number): ItemKey => ({
    pk: partition.content(`m${id}`),
    sk: `s/${firstByte.toString(16).padStart(16, '0')}/${firstPart}`,
  }),
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
  project: (id: string): string => kinds.project + id,
  tombstones: 'graves',
  lifecycleSlices: 'lifecycle-slices',
  bucketsWith: (kind: string): string => kinds.bucketsWith + kind,
  documents: (bucketId: string): string => kinds.document + bucketId,
  /** Where the current versions of a bucket lie: see shards.ts. */
  currentVersions: (bucketId: string, shard?: number): string =>
    kinds.currentVersion + bucketId + (shard === undefined ? '' : `/${shard}`),
  noncurrentVersions: (bucketId: string, key: string): string => `${kinds.noncurrentVersion}${bucketId}/${key}`,
  /** References, or a manifest. @param content `b<blob>` or `m<manifest>` */
  content: (content: string): string => kinds.content + content,
  usage: (bucketId: string): string => `usage/${bucketId}`,
  garbage: (spread: number): string => `garbage/${spread}`,
} as const;

/** What the partition keys of items begin with that a follower of the change feed looks at. */
export const followedPrefixes = {
  /** The usage counters: current versions, which know their noncurrent ones, and parts. */
  usage: [kinds.currentVersion, kinds.upload],
  /** The release of content: versions, uploads and parts. */
  release: [kinds.currentVersion, kinds.noncurrentVersion, kinds.upload],
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
