import type { Condition } from '../../ports/key-value-table.ts';
import { BucketAuthorisation } from '../buckets/authorisation.ts';
import type { Bucket } from '../buckets/bucket.ts';
import type { Version } from './versions.ts';

/** For a change of an object, or of one of its versions. */
export abstract class ObjectAuthorisation extends BucketAuthorisation {
  abstract readonly key: string;

  /** As clients name it; undefined: the current version. */
  abstract readonly versionId: string | undefined;

  /** Whether the version, or its absence, decided. Then the commit hangs on the image that was shown to {@link confirmVersion}. */
  abstract readonly dependsOnVersion: boolean;

  /**
   * As {@link confirm}, on the version that is about to be changed.
   * @param version as it is now, which may be a delete marker; undefined: there is none
   */
  abstract confirmVersion(bucket: Bucket, version: Version | undefined): Promise<readonly Condition[]>;
}
