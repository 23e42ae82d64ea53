import type { Condition } from '../../ports/key-value-table.ts';
import { BucketAuthorisation } from '../buckets/authorisation.ts';
import type { Bucket } from '../buckets/bucket.ts';
import type { Version } from '../versions/versions.ts';

/** The authorisation of a change to an object, or to one of its versions. */
export abstract class ObjectAuthorisation extends BucketAuthorisation {
  abstract readonly key: string;

  /** The version id as clients send it; undefined: the current version. */
  abstract readonly versionId: string | undefined;

  /** True if the decision depended on the version, or its absence. Then the commit depends on the image passed to {@link confirmVersion}. */
  abstract readonly dependsOnVersion: boolean;

  /**
   * As {@link confirm}, for the version that is about to be changed.
   * @param version as it is now, possibly a delete marker; undefined if it does not exist
   */
  abstract confirmVersion(bucket: Bucket, version: Version | undefined): Promise<readonly Condition[]>;

  /**
   * Repeats the questions if their answers depended on another version than this one, with which a condition is about to
   * be compared: for writes whose rights count when the request is authorised.
   */
  abstract confirmCompared(bucket: Bucket, version: Version | undefined): Promise<void>;
}
