import { createHash } from 'node:crypto';
import { shardCount } from './ids.ts';
import { partition } from './keys.ts';

/** The partition of a key's head. */
export function headPartition(bucketId: string, key: string): string {
  const shards = shardCount(bucketId);
  if (shards === 1) return partition.heads(bucketId);
  const hash = createHash('sha256').update(key).digest();
  return partition.heads(bucketId, hash.readUInt32BE(0) % shards);
}

/** All partitions that hold the bucket's heads. */
export function headPartitions(bucketId: string): readonly string[] {
  const shards = shardCount(bucketId);
  if (shards === 1) return [partition.heads(bucketId)];
  return Array.from({ length: shards }, (_, shard) => partition.heads(bucketId, shard));
}
