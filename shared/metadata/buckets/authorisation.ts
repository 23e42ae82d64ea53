import type { Condition } from '../../ports/key-value-table.ts';
import type { Bucket } from './bucket.ts';

/**
 * Proof that a change was authorised, and on what. A repository takes one with every change and changes nothing but what it
 * names; where rights count at the commit, it has them confirmed on what is there by then. So what is changed is what was
 * authorised, whatever happens between the two.
 *
 * These are classes, not interfaces, since a value of the right shape is no proof: a request's is made by
 * `shared/protocol/authorisation`, the service's own by `ServiceAuthorisation`. `test/architecture` holds that no operation
 * makes one.
 */
export abstract class Authorisation {
  /**
   * Confirms that the caller's access key is still good, with the rights it had. The first time, a key counts that was looked up
   * within seconds, as for the signature; from the second time on it is read anew.
   * @returns what a commit must find for that to be exact
   * @throws S3Error InvalidAccessKeyId, UserSuspended, AccessDenied, SlowDown (rights change all the time)
   */
  abstract confirmCaller(): Promise<readonly Condition[]>;
}

/** For a change of a bucket, or of what is in it. */
export abstract class BucketAuthorisation extends Authorisation {
  /** The bucket as it was when the change was authorised on it. */
  abstract readonly bucket: Bucket;

  /**
   * As {@link confirmCaller}, and that the caller still has the rights to this bucket. Asks again only if something has changed
   * that rights depend on.
   * @param bucket as it is now
   * @throws S3Error NoSuchBucket if another bucket has the name now
   */
  abstract confirm(bucket: Bucket): Promise<readonly Condition[]>;
}
