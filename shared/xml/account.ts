import { document } from './writer.ts';

/** The user who signed the request, with the number of buckets that their project has and may have. */
export interface Account {
  readonly project: { readonly id: string; readonly email: string; readonly displayName: string };
  /** The name of the user. */
  readonly user: string;
  readonly accessKeyId: string;
  readonly bucketCount: number;
  readonly bucketLimit: number;
}

/** Returns the body of GetAccount. */
export function accountDocument(account: Account, namespace: string): string {
  const { id, email, displayName } = account.project;
  return document('Account', namespace, {
    Project: { Id: id, Email: email, DisplayName: displayName },
    User: account.user,
    AccessKeyId: account.accessKeyId,
    BucketCount: account.bucketCount,
    BucketLimit: account.bucketLimit,
  });
}

/** The limits and the usage of a bucket, in bytes and objects. */
export interface BucketQuota {
  readonly bytesLimit: number;
  readonly objectsLimit: number;
  readonly bytes: number;
  readonly objects: number;
}

/** Returns the body of GetBucketQuota. */
export function bucketQuotaDocument(quota: BucketQuota, namespace: string): string {
  return document('BucketQuota', namespace, {
    BytesLimit: quota.bytesLimit,
    ObjectsLimit: quota.objectsLimit,
    Bytes: quota.bytes,
    Objects: quota.objects,
  });
}
