import { S3Error } from '../../errors/s3-error.ts';
import type { Amount } from '../amount.ts';
import type { Bucket } from '../buckets/bucket.ts';
import type { Counters } from './usage-rows.ts';

/**
 * The growth reserved for a write in progress, until released. Not a `Disposable`: esbuild compiles a `using` within
 * a loop to code that rethrows the error of one iteration in the next.
 */
export interface Reservation {
  /** Reserves more, when the write turns out to be larger. @throws S3Error QuotaExceeded */
  add(more: Amount): Promise<void>;
  /** Releases the reservation. Must be called when the write has ended, successful or not. */
  release(): void;
}

/** The properties of a bucket that quotas depend on. */
export type LimitedBucket = Pick<Bucket, 'id' | 'name' | 'quota' | 'full'>;

/** Enforces the quotas of buckets. */
export interface Quotas {
  /**
   * Reserves the most that a write can add to a bucket. The data it replaces counts until it is removed.
   * @throws S3Error QuotaExceeded
   */
  reserve(bucket: LimitedBucket, growth: Amount): Promise<Reservation>;
}

/** Returns the quota of a bucket, or the deployment's limit where the bucket has none. */
export function quotaOf({ quota }: Pick<Bucket, 'quota'>, defaults: Amount): Amount {
  return { bytes: quota?.bytes ?? defaults.bytes, objects: quota?.objects ?? defaults.objects };
}

/** Returns what a quota counts of a bucket: all of its bytes, those of versions and those besides. */
export function countedByQuota({ objects, bytesOfVersions, bytesBesides }: Counters): Amount {
  return { objects, bytes: bytesOfVersions + bytesBesides };
}

/** Returns whether a quota is met: whatever adds something will be refused. */
export function isMet(quota: Amount, used: Amount): boolean {
  return used.bytes >= quota.bytes || used.objects >= quota.objects;
}

export function quotaExceeded({ name }: Pick<Bucket, 'name'>): S3Error {
  return new S3Error('QuotaExceeded', { details: { BucketName: name } });
}

/** The room that is left in a bucket for what is no object: uploads and public links. */
export interface Room {
  /** The most of its kind that there may be. */
  readonly most: number;
  /** Reserves bytes until they are committed, or not. @throws S3Error QuotaExceeded */
  reserve(bytes: number): Promise<{ release(): void }>;
}

/** For what an operator makes. */
export const unlimited: Room = { most: Infinity, reserve: () => Promise.resolve({ release: () => undefined }) };
