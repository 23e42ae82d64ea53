import type { Condition } from '../../ports/key-value-table.ts';
import type { Bucket } from './bucket.ts';
import type { Origin } from './origin.ts';

/**
 * Proof that a change was authorised, and for which resource. A repository takes one with every change and changes only the resource
 * that it names; if rights count at the commit, it confirms them for the resource as it is then. The changed resource is therefore always
 * the authorised one.
 *
 * These are classes, not interfaces, since an object of the right shape is not a proof: `shared/protocol/authorisation` creates those
 * of requests, `ServiceAuthorisation` is the service's own. `test/architecture` checks that no operation creates one.
 */
export abstract class Authorisation {
  /**
   * Confirms that the caller's access key is still valid, with the same rights. The first call accepts a key that was looked up
   * within seconds, as for the signature; later calls read it again.
   * @returns the conditions under which a commit holds this exactly
   * @throws S3Error InvalidAccessKeyId, UserSuspended, AccessDenied, SlowDown (rights change all the time)
   */
  abstract confirmCaller(): Promise<readonly Condition[]>;
}

/** The authorisation of a change to a bucket or its contents. */
export abstract class BucketAuthorisation extends Authorisation {
  /** The bucket as it was when the change was authorised. */
  abstract readonly bucket: Bucket;

  /** At whose instance the change is made. */
  abstract readonly origin: Origin;

  /**
   * As {@link confirmCaller}; also confirms that the caller still has the rights to this bucket. Authorises again only if something
   * has changed on which rights depend.
   * @param bucket as it is now
   * @throws S3Error NoSuchBucket if the name belongs to another bucket now
   */
  abstract confirm(bucket: Bucket): Promise<readonly Condition[]>;
}
