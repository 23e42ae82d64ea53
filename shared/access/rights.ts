import type { administrativeActions } from './policies/policy-actions.ts';
import type { Permission } from './acl.ts';
import type { Privilege } from './identity.ts';

/**
 * The right that an action requires of callers to whom no policy allows it.
 *
 * - `service`: nothing or, for some actions, an access key;
 * - `oneself`: an access key, whatever the policies of its user say;
 * - `bucket`: to own the bucket or, where a permission is named, to be granted it in the bucket's ACL;
 * - `object`: to own the bucket or the version, or to be granted the permission in the version's ACL. The version must
 *   be looked up even if a policy allows the action, because a bucket's policy does not cover objects owned by others;
 * - `upload`: to own the bucket or to have initiated the upload;
 * - `role`: to be trusted by it;
 * - `owner`: to own the bucket, as a user with the privilege if one is named. Policies and ACLs do not apply.
 */
export type Need =
  | { readonly on: 'service'; readonly by: 'everybody' | 'users' }
  | { readonly on: 'oneself' }
  | { readonly on: 'bucket'; readonly permission: Permission }
  | { readonly on: 'bucket'; readonly permission: 'none'; readonly orPolicy: boolean }
  | {
      readonly on: 'object';
      readonly permission: Permission | 'none';
      /** Set where delete markers count as versions; otherwise a delete marker counts as missing. */
      readonly markers?: 'as versions';
    }
  | { readonly on: 'upload' }
  | { readonly on: 'role' }
  | { readonly on: 'owner'; readonly privilege?: Privilege };

/** For the bucket's owner, and others if a policy allows it. */
const ownersAlone: Need = { on: 'bucket', permission: 'none', orPolicy: true };
/** For the bucket's owner only, whatever a policy says. */
const alwaysOwners: Need = { on: 'bucket', permission: 'none', orPolicy: false };

/** The right to write into a bucket. */
export const writing: Need = { on: 'bucket', permission: 'WRITE' };
const listing: Need = { on: 'bucket', permission: 'READ' };
const readingSettings: Need = { on: 'bucket', permission: 'READ_ACP' };
const writingSettings: Need = { on: 'bucket', permission: 'WRITE_ACP' };
const reading: Need = { on: 'object', permission: 'READ' };
const readingAcl: Need = { on: 'object', permission: 'READ_ACP' };
const writingAcl: Need = { on: 'object', permission: 'WRITE_ACP' };
const monitoring: Need = { on: 'owner', privilege: 'monitoring' };
/** For everybody whose own policies allow it, about the own project. */
const administering: Need = { on: 'service', by: 'users' };
/** Not for those who may write: what policies let be read may depend on tags. */
const taggingObjects: Need = { on: 'object', permission: 'none' };

/**
 * The right that each action requires, by its name in policies:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html#acl-access-policy-permission-mapping
 * and, for bucket settings, as in Ceph RGW.
 */
const needs = {
  ListAllMyBuckets: { on: 'service', by: 'everybody' },
  CreateBucket: { on: 'service', by: 'users' },
  GetAccount: { on: 'oneself' },

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
  // Permanent deletion: only by the owner of the version or the bucket.
  DeleteObjectVersion: { on: 'object', permission: 'none', markers: 'as versions' },
  // Stillage's own actions, which only policies of identities can name.
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

  // Not for the owners of versions in other projects' buckets: a lock binds the owner of the bucket.
  PutBucketObjectLockConfiguration: ownersAlone,
  GetObjectRetention: ownersAlone,
  PutObjectRetention: ownersAlone,
  GetObjectLegalHold: ownersAlone,
  PutObjectLegalHold: ownersAlone,
  BypassGovernanceRetention: ownersAlone,

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

  // Those of the caller's project: a right to one bucket says nothing of what others tell a webhook.
  GetWebhook: administering,
  PutWebhook: administering,
  DeleteWebhook: administering,
  ListWebhooks: administering,
  RotateWebhookSecret: administering,
  TestWebhook: administering,
  ListEventDeliveries: { on: 'owner' },
  ReplayEvents: { on: 'owner' },

  'sts:AssumeRole': { on: 'role' },
  'sts:AssumeRoleWithWebIdentity': { on: 'role' },
  'sts:GetFederationToken': { on: 'service', by: 'users' },
} as const satisfies Readonly<Record<string, Need>>;

/** An action that a request may be asked to be authorised for, without its namespace: `GetObject`, `ListBucket`. */
export type Action = keyof typeof needs | AdministrativeAction;

/** An action of IAM or CloudTrail, for everybody whose policies allow it. */
type AdministrativeAction = Extract<(typeof administrativeActions)[number], `${'iam' | 'cloudtrail'}:${string}`>;

/** Returns the right that an action requires. */
export function needOf(action: Action): Need {
  return action in needs ? needs[action as keyof typeof needs] : administering;
}
