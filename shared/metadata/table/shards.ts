import { createHash } from 'node:crypto';
import { shardCount } from './ids.ts';
import { partition } from './keys.ts';

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
