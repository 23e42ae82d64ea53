import { createHash } from 'node:crypto';
import type { ItemKey } from '../../../ports/key-value-table.ts';
import { accountKeyParts } from './account-keys.ts';
import { shardCount } from './ids.ts';

/**
 * The keys of all items. The first segment of a partition key is the kind of the item, and user text comes only after
 * it, so an object named `uploads` can never collide with a bucket's uploads.
 */
export const only = '-';
export const references = 'refs';
export const ownedBuckets = 'bucket/';
export const bucketCount = 'buckets';

/** The prefixes of partition keys, by kind of item. */
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
  /** The public links of an object key. */
  links: 'links/',
  /** The last change of a key that somebody wants to be told of. */
  event: 'event/',
} as const;

/** Returns the prefix of the sort keys of a project's buckets, which sort by name. */
export const ownedBucketPrefix = (prefix: string): string => ownedBuckets + prefix;

export const itemKey = {
  bucket: (name: string): ItemKey => ({ pk: kinds.bucket + name, sk: only }),
  bucketDocument: (bucketId: string, kind: string, revision: string): ItemKey => ({
    pk: partition.documents(bucketId),
    sk: `${kind}/${revision}`,
  }),
  /** A bucket in the list of its project. */
  ownedBucket: (project: string, name: string): ItemKey => ({
    pk: partition.project(project),
    sk: ownedBuckets + name,
  }),
  /** The number of a project's buckets. */
  bucketCount: (project: string): ItemKey => ({ pk: partition.project(project), sk: bucketCount }),
  /** A bucket in the list of those with a document of this kind. */
  bucketWith: (kind: string, name: string): ItemKey => ({ pk: partition.bucketsWith(kind), sk: name }),
  /** The name of the bucket with this id. */
  bucketName: (bucketId: string): ItemKey => ({ pk: kinds.bucketName + bucketId, sk: only }),
  /** A deleted bucket that waits for its purge. */
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
  /**
   * Two slices begin at the same byte only if the parts between them are empty, so the first part's number is included,
   * too.
   */
  manifestSlice: (id: string, firstByte: number, firstPart: number): ItemKey => ({
    pk: partition.content(`m${id}`),
    sk: `s/${firstByte.toString(16).padStart(16, '0')}/${firstPart}`,
  }),
  garbage: (spread: number, due: string, content: string, instance: string): ItemKey => ({
    pk: partition.garbage(spread),
    sk: `${due}/${content}/${instance}`,
  }),
  /** The current or last lifecycle pass, with the work left to do. */
  lifecyclePass: { pk: 'lifecycle-pass', sk: only } satisfies ItemKey,
  lifecycleSlice: (id: string): ItemKey => ({ pk: partition.lifecycleSlices, sk: id }),
  /** A range of a bucket's keys in which nothing is due before a certain time. */
  lifecycleBound: (bucketId: string, id: string): ItemKey => ({ pk: partition.lifecycleBounds(bucketId), sk: id }),
  /** A version that is older than its place in a bucket. */
  lifecycleRecheck: (bucketId: string, id: string): ItemKey => ({ pk: partition.lifecycleRechecks(bucketId), sk: id }),
  /** The position of a follower of the embedded change feed. */
  follower: (name: string): ItemKey => ({ pk: `follower/${name}`, sk: only }),
  /** The lease of a backup that runs. */
  backupLease: (id: string): ItemKey => ({ pk: partition.backupLeases, sk: id }),
  /** A value of the whole deployment, such as the key of continuation tokens. */
  deployment: (name: string): ItemKey => ({ pk: 'deployment', sk: name }),
} as const;

export const partition = {
  project: (id: string): string => kinds.project + id,
  tombstones: 'graves',
  backupLeases: 'backup-leases',
  lifecycleSlices: 'lifecycle-slices',
  lifecycleBounds: (bucketId: string): string => `lifecycle-bounds/${bucketId}`,
  lifecycleRechecks: (bucketId: string): string => `lifecycle-rechecks/${bucketId}`,
  bucketsWith: (kind: string): string => kinds.bucketsWith + kind,
  documents: (bucketId: string): string => kinds.document + bucketId,
  /** The partition of a bucket's current versions: see {@link currentVersionPartition}. */
  currentVersions: (bucketId: string, shard?: number): string =>
    kinds.currentVersion + bucketId + (shard === undefined ? '' : `/${shard}`),
  noncurrentVersions: (bucketId: string, key: string): string => `${kinds.noncurrentVersion}${bucketId}/${key}`,
  /**
   * References, or a manifest.
   * @param content `b<blob>` or `m<manifest>`
   */
  content: (content: string): string => kinds.content + content,
  usage: (bucketId: string): string => `usage/${bucketId}`,
  garbage: (spread: number): string => `garbage/${spread}`,
} as const;

/** The prefixes of partition keys that each follower of the change feed reads. */
export const followedPrefixes = {
  /** The usage counters: current versions, which store totals of their noncurrent ones, uploads, parts and public links. */
  usage: [kinds.currentVersion, kinds.upload, kinds.links],
  /** The release of content: versions, uploads and parts. */
  release: [kinds.currentVersion, kinds.noncurrentVersion, kinds.upload],
  /** The delivery of events. */
  events: [kinds.event],
} as const;

const everyFollowedPrefix = [...new Set(Object.values(followedPrefixes).flat())];

/** Returns whether the change feed must include this item: only objects, uploads, their parts, public links and events have followers. */
export function isFollowed({ pk }: ItemKey): boolean {
  return everyFollowedPrefix.some((prefix) => pk.startsWith(prefix));
}

/** Returns whether servers remember this item for seconds, where reading it takes a round trip: buckets, and projects, which each change by IAM changes. */
export function isRemembered(key: ItemKey): boolean {
  return key.pk.startsWith(kinds.bucket) || accountKeyParts.isProject(key);
}

/** The number of partitions of the release queue, so that a busy deployment does not exceed the write rate of one. */
export const garbagePartitions = 16;

/** Returns the partition of the release queue for an instance. */
export function garbagePartitionOf(instance: string): number {
  return instance.charCodeAt(instance.length - 1) % garbagePartitions;
}

/** Returns the partition of a key's current version. */
export function currentVersionPartition(bucketId: string, key: string): string {
  const shards = shardCount(bucketId);
  if (shards === 1) return partition.currentVersions(bucketId);
  const hash = createHash('sha256').update(key).digest();
  return partition.currentVersions(bucketId, hash.readUInt32BE(0) % shards);
}

/** Returns all partitions that hold the bucket's current versions. */
export function currentVersionPartitions(bucketId: string): readonly string[] {
  const shards = shardCount(bucketId);
  if (shards === 1) return [partition.currentVersions(bucketId)];
  return Array.from({ length: shards }, (_, shard) => partition.currentVersions(bucketId, shard));
}
