import { S3Error } from '../../errors/s3-error.ts';
import type { Amount } from '../amount.ts';
import type { Bucket } from '../buckets/bucket.ts';

/**
 * What a write in progress may add to its bucket, until it is released. Not a `Disposable`: of a `using` within a loop esbuild makes
 * code that throws the error of one iteration again in the next.
 */
export interface Reservation {
  /** Reserves more, once more is known than when the write began. @throws S3Error QuotaExceeded */
  add(more: Amount): Promise<void>;
  /** To be called when the write has ended, however it did. */
  release(): void;
}

/** What is known of a bucket by whoever limits it. */
export type LimitedBucket = Pick<Bucket, 'id' | 'name' | 'quota' | 'full'>;

/** Holds buckets to what may be in them. */
export interface Quotas {
  /**
   * Reserves what a write adds to a bucket at most. What it replaces counts until it is gone.
   * @throws S3Error QuotaExceeded
   */
  reserve(bucket: LimitedBucket, growth: Amount): Promise<Reservation>;
}

/** What a bucket may hold: its own quota, or else the deployment's limit. */
export function quotaOf({ quota }: Pick<Bucket, 'quota'>, defaults: Amount): Amount {
  return { bytes: quota?.bytes ?? defaults.bytes, objects: quota?.objects ?? defaults.objects };
}

export function quotaExceeded({ name }: Pick<Bucket, 'name'>): S3Error {
  return new S3Error('QuotaExceeded', { details: { BucketName: name } });
}
