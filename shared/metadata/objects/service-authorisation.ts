import type { Condition } from '../../ports/key-value-table.ts';
import { Authorisation } from '../buckets/authorisation.ts';
import { noSuchBucket, type Bucket } from '../buckets/bucket.ts';
import { ObjectAuthorisation } from './object-authorisation.ts';

/**
 * What the service does by itself or for its operator, such as lifecycle rules and administration. Nobody's rights count;
 * identity does.
 */
export class ServiceAuthorisation extends ObjectAuthorisation {
  readonly bucket: Bucket;
  readonly key: string;
  readonly versionId: string | undefined;
  readonly dependsOnVersion = false;

  constructor(bucket: Bucket, key = '', versionId?: string) {
    super();
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
}

class OperatorAuthorisation extends Authorisation {
  async confirmCaller(): Promise<readonly Condition[]> {
    return [];
  }
}

/** The service or its operator acts, on no bucket that is there. */
export const byOperator: Authorisation = new OperatorAuthorisation();

/** The service or its operator changes a bucket, or what is in it. */
export function asService(bucket: Bucket, key?: string, versionId?: string): ServiceAuthorisation {
  return new ServiceAuthorisation(bucket, key, versionId);
}
