import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forAnybody, permissions, permissionsPage } from '../../../bin/permissions-table.ts';
import { operations } from '../../../functions/operations.ts';
import { policyActions } from '../../../shared/access/policies/policy-actions.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/permissions.md'), 'utf8');

it('docs/permissions.md is what the operations ask for now', () => {
  expect(page, 'run: node --import tsx bin/permissions-table.ts > docs/permissions.md').toBe(permissionsPage());
});

/** Of Stillage's own sub-resources: these are for the bucket's owner, or for all users, and no policy can give them to others. */
const beyondPolicies =
  /(Account|Alarms?|AlarmHistory|BucketMonitoring|BucketQuota|EventDeliveries|MetricData|PublicLinks?|ReplayEvents|Webhooks?|WebhookSecret)$/;

describe('every right that an operation needs', () => {
  it('is an action of shared/access/policies/policy-actions.ts, about what it is done to', () => {
    for (const { operation, question } of permissions()) {
      const { action, bucket, key } = question;
      // Of another API, by policies of identities alone.
      if (beyondPolicies.test(action) || action.includes(':')) continue;
      const level = key !== undefined ? 'object' : bucket !== undefined ? 'bucket' : 'service';
      const isAboutTheService = bucket === undefined && action === 'CreateBucket';
      expect({ operation, action, level }).toEqual({
        operation,
        action,
        level: isAboutTheService ? 'service' : policyActions.get(action),
      });
    }
  });
});

/** Operation and its rights, with the source of a copy marked by `<`: from the S3 API's own pages. */
const expected: Readonly<Record<string, readonly string[]>> = {
  AbortMultipartUpload: ['AbortMultipartUpload'],
  CompleteMultipartUpload: ['GetObject', 'PutObject'],
  CopyObject: [
    'GetObject',
    'GetObject <',
    'GetObjectTagging <',
    'GetObjectVersion <',
    'GetObjectVersionTagging <',
    'PutObject',
    'PutObjectAcl',
    'PutObjectLegalHold',
    'PutObjectRetention',
    'PutObjectTagging',
  ],
  CreateBucket: ['CreateBucket'],
  CreateMultipartUpload: [
    'GetObject',
    'PutObject',
    'PutObjectAcl',
    'PutObjectLegalHold',
    'PutObjectRetention',
    'PutObjectTagging',
  ],
  DeleteBucket: ['DeleteBucket'],
  DeleteBucketEncryption: ['PutEncryptionConfiguration'],
  DeleteBucketLifecycle: ['PutLifecycleConfiguration'],
  DeleteBucketOwnershipControls: ['PutBucketOwnershipControls'],
  DeleteBucketPolicy: ['DeleteBucketPolicy'],
  DeleteBucketTagging: ['PutBucketTagging'],
  DeleteObject: ['BypassGovernanceRetention', 'DeleteObject', 'DeleteObjectVersion', 'GetObject', 'GetObjectVersion'],
  DeleteObjectTagging: ['DeleteObjectTagging', 'DeleteObjectVersionTagging'],
  DeletePublicAccessBlock: ['PutBucketPublicAccessBlock'],
  DeleteObjects: ['BypassGovernanceRetention', 'DeleteObject', 'DeleteObjectVersion', 'GetObject', 'GetObjectVersion'],
  GetBucketAccelerateConfiguration: ['GetAccelerateConfiguration'],
  GetBucketAcl: ['GetBucketAcl'],
  GetBucketEncryption: ['GetEncryptionConfiguration'],
  GetBucketLifecycleConfiguration: ['GetLifecycleConfiguration'],
  GetBucketLocation: ['GetBucketLocation'],
  GetBucketLogging: ['GetBucketLogging'],
  GetBucketNotificationConfiguration: ['GetBucketNotification'],
  GetBucketOwnershipControls: ['GetBucketOwnershipControls'],
  GetBucketPolicy: ['GetBucketPolicy'],
  GetBucketPolicyStatus: ['GetBucketPolicyStatus'],
  GetBucketReplication: ['GetReplicationConfiguration'],
  GetBucketRequestPayment: ['GetBucketRequestPayment'],
  GetBucketTagging: ['GetBucketTagging'],
  GetBucketVersioning: ['GetBucketVersioning'],
  GetObject: ['GetObject', 'GetObjectLegalHold', 'GetObjectRetention', 'GetObjectVersion'],
  GetObjectAcl: ['GetObjectAcl', 'GetObjectVersionAcl'],
  GetObjectAttributes: ['GetObject', 'GetObjectAttributes', 'GetObjectVersion', 'GetObjectVersionAttributes'],
  GetObjectLockConfiguration: ['GetBucketObjectLockConfiguration'],
  GetObjectLegalHold: ['GetObjectLegalHold'],
  GetObjectRetention: ['GetObjectRetention'],
  GetObjectTagging: ['GetObjectTagging', 'GetObjectVersionTagging'],
  GetPublicAccessBlock: ['GetBucketPublicAccessBlock'],
  HeadBucket: ['ListBucket'],
  HeadObject: ['GetObject', 'GetObjectLegalHold', 'GetObjectRetention', 'GetObjectVersion'],
  ListBuckets: ['ListAllMyBuckets'],
  ListMultipartUploads: ['ListBucketMultipartUploads'],
  ListObjectVersions: ['ListBucketVersions'],
  ListObjects: ['ListBucket'],
  ListObjectsV2: ['ListBucket'],
  ListParts: ['ListMultipartUploadParts'],
  PostObject: [
    'GetObject',
    'PutObject',
    'PutObjectAcl',
    'PutObjectLegalHold',
    'PutObjectRetention',
    'PutObjectTagging',
  ],
  PutBucketAcl: ['PutBucketAcl'],
  PutBucketEncryption: ['PutEncryptionConfiguration'],
  PutBucketLifecycleConfiguration: ['PutLifecycleConfiguration'],
  PutBucketLogging: ['PutBucketLogging'],
  PutBucketNotificationConfiguration: ['PutBucketNotification'],
  PutBucketOwnershipControls: ['PutBucketOwnershipControls'],
  PutBucketPolicy: ['PutBucketPolicy'],
  PutBucketRequestPayment: ['PutBucketRequestPayment'],
  PutBucketTagging: ['PutBucketTagging'],
  PutBucketVersioning: ['PutBucketVersioning'],
  PutObject: ['GetObject', 'PutObject', 'PutObjectAcl', 'PutObjectLegalHold', 'PutObjectRetention', 'PutObjectTagging'],
  PutObjectAcl: ['PutObjectAcl', 'PutObjectVersionAcl'],
  PutObjectLegalHold: ['PutObjectLegalHold'],
  PutObjectLockConfiguration: ['PutBucketObjectLockConfiguration'],
  PutObjectRetention: ['BypassGovernanceRetention', 'PutObjectRetention'],
  PutObjectTagging: ['PutObjectTagging', 'PutObjectVersionTagging'],
  PutPublicAccessBlock: ['PutBucketPublicAccessBlock'],
  RenameObject: ['DeleteObject <', 'GetObject', 'GetObject <', 'PutObject'],
  UploadPart: ['PutObject'],
  UploadPartCopy: ['GetObject <', 'GetObjectVersion <', 'PutObject'],
};

it.each([...operations.keys()].filter((name) => Object.hasOwn(expected, name)))('%s needs what S3 says', (name) => {
  const found = permissions()
    .filter(({ operation }) => operation === name)
    .map(({ question: { action, key } }) => (key?.startsWith('source') ? `${action} <` : action));
  expect(found.toSorted()).toEqual(expected[name]);
});

it('no operation is without one but those for nobody in particular', () => {
  const without = [...operations.keys()].filter((name) => !permissions().some(({ operation }) => operation === name));
  expect(without.filter((name) => !forAnybody.has(name))).toEqual([]);
});
