import type { Permission } from './acl.ts';
import type { Privilege } from './identity.ts';

/**
 * What somebody needs whom no policy allows an action.
 *
 * - `service`: nothing but, for some, an access key;
 * - `bucket`: to own the bucket or, where a permission is named, to be granted it in the bucket's ACL;
 * - `object`: to own the bucket or the version, or to be granted the permission in the version's ACL. Which it is must be known
 *   even if a policy allows the action, because a bucket's policy does not speak for the objects of others;
 * - `upload`: to own the bucket or to have begun the upload;
 * - `owner`: to own the bucket, as a user who has the privilege if one is named. Policies and ACLs have no say.
 */
export type Need =
  | { readonly on: 'service'; readonly by: 'everybody' | 'users' }
  | { readonly on: 'bucket'; readonly permission: Permission }
  | { readonly on: 'bucket'; readonly permission: 'none'; readonly orPolicy: boolean }
  | {
      readonly on: 'object';
      readonly permission: Permission | 'none';
      readonly orBucket?: Permission;
      /** Set where a delete marker has an owner like any version; else it counts as missing. */
      readonly markers?: 'as versions';
    }
  | { readonly on: 'upload' }
  | { readonly on: 'owner'; readonly privilege?: Privilege };

/** For what only the bucket's owner may do, and a policy may allow others. */
const ownersAlone: Need = { on: 'bucket', permission: 'none', orPolicy: true };
/** For what only the bucket's owner may do, whatever a policy says. */
const alwaysOwners: Need = { on: 'bucket', permission: 'none', orPolicy: false };

/** To write into a bucket. */
export const writing: Need = { on: 'bucket', permission: 'WRITE' };
const listing: Need = { on: 'bucket', permission: 'READ' };
const readingSettings: Need = { on: 'bucket', permission: 'READ_ACP' };
const writingSettings: Need = { on: 'bucket', permission: 'WRITE_ACP' };
const reading: Need = { on: 'object', permission: 'READ' };
const readingAcl: Need = { on: 'object', permission: 'READ_ACP' };
const writingAcl: Need = { on: 'object', permission: 'WRITE_ACP' };
const monitoring: Need = { on: 'owner', privilege: 'monitoring' };
const taggingObjects: Need = { on: 'object', permission: 'WRITE', orBucket: 'WRITE' };

/**
 * The needs of actions, by their names in policies:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html#acl-access-policy-permission-mapping
 * and, for the settings of a bucket, as in Ceph RGW.
 */
const needs: Readonly<Record<string, Need>> = {
  ListAllMyBuckets: { on: 'service', by: 'everybody' },
  CreateBucket: { on: 'service', by: 'users' },
  GetAccount: { on: 'service', by: 'users' },

  ListBucket: listing,
  ListBucketVersions: listing,
  ListBucketMultipartUploads: listing,

  PutObject: writing,
  DeleteObject: writing,
  AbortMultipartUpload: { on: 'upload' },
  ListMultipartUploadParts: { on: 'upload' },

  GetObject: reading,
  GetObjectVersion: reading,
  GetObjectAttributes: reading,
  GetObjectVersionAttributes: reading,
  GetObjectTagging: reading,
  GetObjectVersionTagging: reading,
  GetObjectAcl: readingAcl,
  GetObjectVersionAcl: readingAcl,
  PutObjectAcl: writingAcl,
  PutObjectVersionAcl: writingAcl,
  PutObjectTagging: taggingObjects,
  PutObjectVersionTagging: taggingObjects,
  DeleteObjectTagging: taggingObjects,
  DeleteObjectVersionTagging: taggingObjects,
  // For good: only whoever owns the version, or the bucket.
  DeleteObjectVersion: { on: 'object', permission: 'none', markers: 'as versions' },
  // Stillage's own: no policy knows these.
  CreatePublicLink: { on: 'object', permission: 'none' },
  ListPublicLinks: { on: 'object', permission: 'none' },
  DeletePublicLink: { on: 'object', permission: 'none' },

  GetBucketAcl: readingSettings,
  PutBucketAcl: writingSettings,
  DeleteBucket: alwaysOwners,
  PutBucketVersioning: alwaysOwners,
  GetBucketVersioning: readingSettings,
  GetBucketLocation: readingSettings,
  GetBucketTagging: readingSettings,
  PutBucketTagging: writingSettings,
  GetBucketPolicy: readingSettings,
  PutBucketPolicy: writingSettings,
  DeleteBucketPolicy: writingSettings,
  GetBucketPolicyStatus: readingSettings,
  GetBucketCORS: readingSettings,
  PutBucketCORS: writingSettings,
  GetBucketWebsite: readingSettings,
  PutBucketWebsite: writingSettings,
  DeleteBucketWebsite: writingSettings,
  GetLifecycleConfiguration: readingSettings,
  PutLifecycleConfiguration: writingSettings,
  GetBucketRequestPayment: readingSettings,
  GetAccelerateConfiguration: readingSettings,
  GetBucketLogging: readingSettings,
  GetBucketNotification: readingSettings,
  GetReplicationConfiguration: readingSettings,
  GetBucketObjectLockConfiguration: readingSettings,

  GetEncryptionConfiguration: ownersAlone,
  PutEncryptionConfiguration: ownersAlone,
  GetBucketPublicAccessBlock: ownersAlone,
  PutBucketPublicAccessBlock: ownersAlone,
  GetBucketOwnershipControls: ownersAlone,
  PutBucketOwnershipControls: ownersAlone,
  PutBucketRequestPayment: ownersAlone,
  PutBucketLogging: ownersAlone,
  PutBucketNotification: ownersAlone,

  GetBucketQuota: { on: 'owner' },
  GetBucketMonitoring: monitoring,
  PutBucketMonitoring: monitoring,
  GetMetricData: monitoring,
  GetAlarm: monitoring,
  PutAlarm: monitoring,
  DeleteAlarm: monitoring,
  ListAlarms: monitoring,
  GetAlarmHistory: monitoring,
};

/** What an action needs. One that is not in the table, whatever it is, is for the bucket's owner. */
export function needOf(action: string): Need {
  return Object.hasOwn(needs, action) ? needs[action]! : ownersAlone;
}
