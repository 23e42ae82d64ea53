import { S3Error } from '../../errors/s3-error.ts';
import type { Amount } from '../amount.ts';
import type { Bucket } from '../buckets/bucket.ts';

/** Says that a write adds so much more than was known when it began. @throws S3Error QuotaExceeded */
export type Reserve = (more: Amount) => Promise<void>;

/** Holds buckets to what may be in them. */
export interface Quotas {
  /**
   * Does work that adds at most so much to a bucket, if there is room for it. What is replaced counts until it is gone.
   * @throws S3Error QuotaExceeded, before the work has begun
   */
  within<Result>(bucket: Bucket, growth: Amount, work: (reserve: Reserve) => Promise<Result>): Promise<Result>;
}

/** What a bucket may hold: its own quota, or else the deployment's limit. */
export function quotaOf({ quota }: Pick<Bucket, 'quota'>, defaults: Amount): Amount {
  return { bytes: quota?.bytes ?? defaults.bytes, objects: quota?.objects ?? defaults.objects };
}

export function quotaExceeded({ name }: Pick<Bucket, 'name'>): S3Error {
  return new S3Error('QuotaExceeded', { details: { BucketName: name } });
}
