import type { Condition } from '../../ports/key-value-table.ts';
import { Authorisation } from '../buckets/authorisation.ts';
import { noSuchBucket, type Bucket } from '../buckets/bucket.ts';
import { ObjectAuthorisation } from './object-authorisation.ts';
import type { Origin } from '../buckets/origin.ts';

/**
 * The authorisation of what the service does by itself or for its operator, such as lifecycle rules and administration. Checks no
 * rights, only that the bucket is the same.
 */
export class ServiceAuthorisation extends ObjectAuthorisation {
  readonly bucket: Bucket;
  readonly key: string;
  readonly versionId: string | undefined;
  readonly dependsOnVersion = false;
  readonly origin: Origin;

  constructor(bucket: Bucket, origin: Origin, key = '', versionId?: string) {
    super();
    this.origin = origin;
    this.bucket = bucket;
    this.key = key;
    this.versionId = versionId;
  }

  async confirmCaller(): Promise<readonly Condition[]> {
    return [];
  }

  async confirm(bucket: Bucket): Promise<readonly Condition[]> {
    if (bucket.id !== this.bucket.id) throw noSuchBucket(this.bucket.name);
    return [];
  }

  confirmVersion(bucket: Bucket): Promise<readonly Condition[]> {
    return this.confirm(bucket);
  }

  async confirmCompared(): Promise<void> {}
}

class OperatorAuthorisation extends Authorisation {
  async confirmCaller(): Promise<readonly Condition[]> {
    return [];
  }
}

/** The authorisation of the service or its operator to act without an existing bucket. */
export const byOperator: Authorisation = new OperatorAuthorisation();

/** Returns the authorisation of the service or its operator to change a bucket or its contents. */
export function asService(bucket: Bucket, key?: string, versionId?: string): ServiceAuthorisation {
  return new ServiceAuthorisation(bucket, { by: 'operator' }, key, versionId);
}

/** Returns the authorisation of the lifecycle rules of a bucket to remove versions of a key. */
export function asLifecycle(bucket: Bucket, key: string): ServiceAuthorisation {
  return new ServiceAuthorisation(bucket, { by: 'lifecycle' }, key);
}
