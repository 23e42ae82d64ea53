import type { Change } from '../../ports/key-value-table.ts';
import type { Bucket } from '../buckets/bucket.ts';
import type { Origin } from '../buckets/origin.ts';
import type { Version } from '../versions/versions.ts';

/** A change of a key, as the commit that makes it knows it. */
export interface KeyChange {
  readonly key: string;
  readonly change: 'put' | 'removed' | 'revised';
  /** The version that is put, removed or revised; a delete marker that is put. */
  readonly version: Version;
  /** The other name, if a rename does both. */
  readonly renamed?: string | undefined;
}

/** Records changes of keys for those who want to be told of them, in the commits that make them. */
export interface ChangeRecorder {
  /** Returns the changes that record one, for the same commit: none if nobody wants to be told. */
  record(bucket: Bucket, origin: Origin, change: KeyChange): Promise<readonly Change[]>;
}
