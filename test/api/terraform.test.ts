import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteBucketCorsCommand,
  DeleteBucketEncryptionCommand,
  DeleteBucketLifecycleCommand,
  DeleteBucketOwnershipControlsCommand,
  DeleteBucketPolicyCommand,
  DeleteBucketTaggingCommand,
  DeleteBucketWebsiteCommand,
  DeletePublicAccessBlockCommand,
  GetBucketAccelerateConfigurationCommand,
  GetBucketAclCommand,
  GetBucketCorsCommand,
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketLocationCommand,
  GetBucketLoggingCommand,
  GetBucketNotificationConfigurationCommand,
  GetBucketOwnershipControlsCommand,
  GetBucketPolicyCommand,
  GetBucketReplicationCommand,
  GetBucketRequestPaymentCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  GetBucketWebsiteCommand,
  GetObjectLockConfigurationCommand,
  PutObjectLockConfigurationCommand,
  GetPublicAccessBlockCommand,
  HeadBucketCommand,
  PutBucketAclCommand,
  PutBucketCorsCommand,
  PutBucketEncryptionCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketLoggingCommand,
  PutBucketNotificationConfigurationCommand,
  PutBucketOwnershipControlsCommand,
  PutBucketPolicyCommand,
  PutBucketRequestPaymentCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutBucketWebsiteCommand,
  PutPublicAccessBlockCommand,
  type BucketLifecycleConfiguration,
  type BucketLoggingStatus,
  type CORSRule,
  type ServerSideEncryptionRule,
  type WebsiteConfiguration,
} from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { isCloud } from '../support/cloud/deployed.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

/**
 * The calls of Terraform's AWS provider for a bucket as modules make it, in the provider's order, which is that of bucket.go, as far as its clients are
 * those of S3: https://github.com/hashicorp/terraform-provider-aws/tree/main/internal/service/s3. A resource is created by one PUT, and read until it
 * is as it was put; a refresh reads all of it again, and finds nothing to change; it is destroyed by its DELETE, and read until it
 * is gone.
 */

const service = serviceUnderTest();

/** A resource of the provider: how it is created, read and destroyed. Reading must return the configured values, or the plan is not empty. */
interface Resource {
  readonly name: string;
  readonly create: (Bucket: string) => Promise<unknown>;
  /** Returns the part of the response that the provider keeps. */
  readonly read: (Bucket: string) => Promise<unknown>;
  readonly planned: (bucket: string) => unknown;
  readonly destroy?: (Bucket: string) => Promise<unknown>;
  /** The response to a read after the resource was destroyed. */
  readonly gone?: readonly [code: string, status: number] | ((read: unknown) => void);
}

const versioning = (Bucket: string, Status: 'Enabled' | 'Suspended'): Promise<unknown> =>
  service.client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));
const policy = (bucket: string): string =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        ...{ Sid: 'DenyIncorrectEncryptionHeader', Effect: 'Deny', Principal: '*', Action: 's3:PutObject' },
        Resource: `arn:aws:s3:::${bucket}/*`,
        Condition: { StringNotEquals: { 's3:x-amz-server-side-encryption': 'AES256' } },
      },
    ],
  });
const encryption: readonly ServerSideEncryptionRule[] = [
  { ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' }, BucketKeyEnabled: true },
];
const block = { BlockPublicAcls: true, BlockPublicPolicy: true, IgnorePublicAcls: true, RestrictPublicBuckets: true };
const lifecycle: BucketLifecycleConfiguration = {
  Rules: [
    {
      ID: 'uploads',
      Status: 'Enabled',
      Filter: { Prefix: '' },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 },
    },
    {
      ...{ ID: 'logs', Status: 'Enabled', Expiration: { Days: 90 } },
      Filter: { And: { Prefix: 'logs/', Tags: [{ Key: 'class', Value: 'log' }] } },
      NoncurrentVersionExpiration: { NoncurrentDays: 30, NewerNoncurrentVersions: 2 },
    },
  ],
};
const minimumSize = 'all_storage_classes_128K';
const cors: readonly CORSRule[] = [
  {
    ...{ ID: 'web', AllowedMethods: ['GET', 'PUT'], AllowedOrigins: ['https://example.com'], MaxAgeSeconds: 3000 },
    ...{ AllowedHeaders: ['*'], ExposeHeaders: ['ETag'] },
  },
];
const website: WebsiteConfiguration = {
  IndexDocument: { Suffix: 'index.html' },
  ErrorDocument: { Key: 'error.html' },
  RoutingRules: [{ Condition: { KeyPrefixEquals: 'docs/' }, Redirect: { ReplaceKeyPrefixWith: 'documents/' } }],
};
const tags = [
  { Key: 'Environment', Value: 'Dev' },
  { Key: 'Name', Value: 'My bucket' },
];

/** A deployment in the cloud has no access logs, but modules that put them off. */
const loggingIn = (bucket: string): BucketLoggingStatus =>
  isCloud ? {} : { LoggingEnabled: { TargetBucket: bucket, TargetPrefix: 'log/' } };

const shown = (answer: object): object =>
  Object.fromEntries(Object.entries(answer).filter(([name]) => name !== '$metadata'));

const resources: readonly Resource[] = [
  {
    name: 'aws_s3_bucket_ownership_controls',
    create: (Bucket) =>
      service.client.send(
        new PutBucketOwnershipControlsCommand({
          Bucket,
          OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerPreferred' }] },
        }),
      ),
    read: async (Bucket) =>
      (await service.client.send(new GetBucketOwnershipControlsCommand({ Bucket }))).OwnershipControls,
    planned: () => ({ Rules: [{ ObjectOwnership: 'BucketOwnerPreferred' }] }),
    destroy: (Bucket) => service.client.send(new DeleteBucketOwnershipControlsCommand({ Bucket })),
    gone: ['OwnershipControlsNotFoundError', 404],
  },
  {
    name: 'aws_s3_bucket_acl',
    create: (Bucket) => service.client.send(new PutBucketAclCommand({ Bucket, ACL: 'private' })),
    read: async (Bucket) => {
      const { Owner, Grants } = await service.client.send(new GetBucketAclCommand({ Bucket }));
      return Grants!.map(({ Grantee, Permission }) => [Grantee!.Type, Grantee!.ID === Owner!.ID, Permission]);
    },
    planned: () => [['CanonicalUser', true, 'FULL_CONTROL']],
  },
  {
    name: 'aws_s3_bucket_public_access_block',
    create: (Bucket) =>
      service.client.send(new PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration: block })),
    read: async (Bucket) =>
      (await service.client.send(new GetPublicAccessBlockCommand({ Bucket }))).PublicAccessBlockConfiguration,
    planned: () => block,
    destroy: (Bucket) => service.client.send(new DeletePublicAccessBlockCommand({ Bucket })),
    gone: ['NoSuchPublicAccessBlockConfiguration', 404],
  },
  {
    name: 'aws_s3_bucket_versioning',
    create: (Bucket) => versioning(Bucket, 'Enabled'),
    read: async (Bucket) => (await service.client.send(new GetBucketVersioningCommand({ Bucket }))).Status,
    planned: () => 'Enabled',
    destroy: (Bucket) => versioning(Bucket, 'Suspended'),
    gone: (read) => expect(read).toBe('Suspended'),
  },
  {
    name: 'aws_s3_bucket_server_side_encryption_configuration',
    create: (Bucket) =>
      service.client.send(
        new PutBucketEncryptionCommand({ Bucket, ServerSideEncryptionConfiguration: { Rules: [...encryption] } }),
      ),
    read: async (Bucket) =>
      (await service.client.send(new GetBucketEncryptionCommand({ Bucket }))).ServerSideEncryptionConfiguration!.Rules,
    planned: () => encryption,
    destroy: (Bucket) => service.client.send(new DeleteBucketEncryptionCommand({ Bucket })),
    gone: ['ServerSideEncryptionConfigurationNotFoundError', 404],
  },
  {
    name: 'aws_s3_bucket_policy',
    create: (Bucket) => service.client.send(new PutBucketPolicyCommand({ Bucket, Policy: policy(Bucket) })),
    read: async (Bucket) => (await service.client.send(new GetBucketPolicyCommand({ Bucket }))).Policy,
    planned: policy,
    destroy: (Bucket) => service.client.send(new DeleteBucketPolicyCommand({ Bucket })),
    gone: ['NoSuchBucketPolicy', 404],
  },
  {
    name: 'aws_s3_bucket_lifecycle_configuration',
    create: async (Bucket) => {
      const put = new PutBucketLifecycleConfigurationCommand({
        ...{ Bucket, LifecycleConfiguration: lifecycle },
        TransitionDefaultMinimumObjectSize: minimumSize,
      });
      expect((await service.client.send(put)).TransitionDefaultMinimumObjectSize).toBe(minimumSize);
    },
    read: async (Bucket) => {
      const answer = await service.client.send(new GetBucketLifecycleConfigurationCommand({ Bucket }));
      return [answer.Rules, answer.TransitionDefaultMinimumObjectSize];
    },
    planned: () => [lifecycle.Rules, minimumSize],
    destroy: (Bucket) => service.client.send(new DeleteBucketLifecycleCommand({ Bucket })),
    gone: ['NoSuchLifecycleConfiguration', 404],
  },
  {
    name: 'aws_s3_bucket_cors_configuration',
    create: (Bucket) =>
      service.client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: [...cors] } })),
    read: async (Bucket) => (await service.client.send(new GetBucketCorsCommand({ Bucket }))).CORSRules,
    planned: () => cors,
    destroy: (Bucket) => service.client.send(new DeleteBucketCorsCommand({ Bucket })),
    gone: ['NoSuchCORSConfiguration', 404],
  },
  {
    name: 'aws_s3_bucket_website_configuration',
    create: (Bucket) => service.client.send(new PutBucketWebsiteCommand({ Bucket, WebsiteConfiguration: website })),
    read: async (Bucket) => shown(await service.client.send(new GetBucketWebsiteCommand({ Bucket }))),
    planned: () => website,
    destroy: (Bucket) => service.client.send(new DeleteBucketWebsiteCommand({ Bucket })),
    gone: ['NoSuchWebsiteConfiguration', 404],
  },
  {
    name: 'aws_s3_bucket_request_payment_configuration',
    create: (Bucket) =>
      service.client.send(
        new PutBucketRequestPaymentCommand({ Bucket, RequestPaymentConfiguration: { Payer: 'BucketOwner' } }),
      ),
    read: async (Bucket) => (await service.client.send(new GetBucketRequestPaymentCommand({ Bucket }))).Payer,
    planned: () => 'BucketOwner',
    destroy: (Bucket) =>
      service.client.send(
        new PutBucketRequestPaymentCommand({ Bucket, RequestPaymentConfiguration: { Payer: 'BucketOwner' } }),
      ),
  },
  {
    name: 'aws_s3_bucket_logging',
    create: (Bucket) =>
      service.client.send(new PutBucketLoggingCommand({ Bucket, BucketLoggingStatus: loggingIn(Bucket) })),
    read: async (Bucket) => (await service.client.send(new GetBucketLoggingCommand({ Bucket }))).LoggingEnabled,
    planned: (Bucket) => loggingIn(Bucket).LoggingEnabled,
    destroy: (Bucket) => service.client.send(new PutBucketLoggingCommand({ Bucket, BucketLoggingStatus: {} })),
  },
  {
    name: 'aws_s3_bucket_notification',
    create: (Bucket) =>
      service.client.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration: {} })),
    read: async (Bucket) => {
      const answer = await service.client.send(new GetBucketNotificationConfigurationCommand({ Bucket }));
      return shown(answer);
    },
    planned: () => ({}),
    destroy: (Bucket) =>
      service.client.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration: {} })),
  },
];

/** Reads everything that `aws_s3_bucket` reads of every bucket, whatever the other resources. It treats only these errors as "none". */
async function readBucket(Bucket: string): Promise<unknown> {
  const orNone = (answer: Promise<object>, code: string): Promise<unknown> =>
    answer.then(shown, (error: unknown) => {
      expect(error).toEqual(s3Error(code, 404));
      return undefined;
    });
  const head = await service.client.send(new HeadBucketCommand({ Bucket }));
  // manager.GetBucketRegion of the SDK for Go, which takes the region from the refusal.
  const region = await service.sendUnsigned({ method: 'HEAD', path: `/${Bucket}` });
  expect(region.header('x-amz-bucket-region')).toBe(head.BucketRegion);
  return [
    head.BucketRegion,
    await orNone(service.client.send(new GetBucketPolicyCommand({ Bucket })), 'NoSuchBucketPolicy'),
    shown(await service.client.send(new GetBucketAclCommand({ Bucket }))),
    await orNone(service.client.send(new GetBucketCorsCommand({ Bucket })), 'NoSuchCORSConfiguration'),
    await orNone(service.client.send(new GetBucketWebsiteCommand({ Bucket })), 'NoSuchWebsiteConfiguration'),
    shown(await service.client.send(new GetBucketVersioningCommand({ Bucket }))),
    shown(await service.client.send(new GetBucketAccelerateConfigurationCommand({ Bucket }))),
    shown(await service.client.send(new GetBucketRequestPaymentCommand({ Bucket }))),
    shown(await service.client.send(new GetBucketLoggingCommand({ Bucket }))),
    await orNone(
      service.client.send(new GetBucketLifecycleConfigurationCommand({ Bucket })),
      'NoSuchLifecycleConfiguration',
    ),
    await orNone(
      service.client.send(new GetBucketReplicationCommand({ Bucket })),
      'ReplicationConfigurationNotFoundError',
    ),
    await orNone(
      service.client.send(new GetBucketEncryptionCommand({ Bucket })),
      'ServerSideEncryptionConfigurationNotFoundError',
    ),
    await orNone(
      service.client.send(new GetObjectLockConfigurationCommand({ Bucket })),
      'ObjectLockConfigurationNotFoundError',
    ),
    shown(await service.client.send(new GetBucketLocationCommand({ Bucket }))),
    await orNone(service.client.send(new GetBucketTaggingCommand({ Bucket })), 'NoSuchTagSet'),
  ];
}

it('a module of a bucket and its settings is applied, has an empty plan, and is destroyed', async () => {
  const Bucket = service.freeName('terraform');
  await service.client.send(new CreateBucketCommand({ Bucket, ACL: 'private' }));
  await service.client.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: tags } }));
  const { TagSet } = await service.client.send(new GetBucketTaggingCommand({ Bucket }));
  expect(TagSet).toEqual(tags);
  await readBucket(Bucket);
  for (const { create, read, planned } of resources) {
    await create(Bucket);
    expect(await read(Bucket)).toEqual(planned(Bucket));
  }

  // A refresh finds everything as planned, and a second refresh finds no change.
  const first = await readBucket(Bucket);
  for (const { read, planned } of resources) expect(await read(Bucket)).toEqual(planned(Bucket));
  expect(await readBucket(Bucket)).toEqual(first);

  for (const { destroy, gone, read } of resources.toReversed()) {
    await destroy?.(Bucket);
    if (Array.isArray(gone)) await expect(read(Bucket)).rejects.toEqual(s3Error(...(gone as [string, number])));
    else if (typeof gone === 'function') gone(await read(Bucket));
  }
  await service.client.send(new DeleteBucketTaggingCommand({ Bucket }));
  await service.client.send(new DeleteBucketCommand({ Bucket }));
  await expect(service.client.send(new HeadBucketCommand({ Bucket }))).rejects.toMatchObject({
    $metadata: { httpStatusCode: 404 },
  });
});

/** The rules that the provider sends: without a filter, with the old `prefix`, with an empty one, and with each kind of filter. */
const rules: BucketLifecycleConfiguration['Rules'] = [
  { ID: 'none', Status: 'Enabled', Filter: {}, Expiration: { Days: 400 } },
  { ID: 'old', Status: 'Enabled', Prefix: 'old/', Expiration: { Days: 1 } },
  { ID: 'empty', Status: 'Enabled', Filter: { Prefix: '' }, Expiration: { ExpiredObjectDeleteMarker: true } },
  {
    ID: 'size',
    Status: 'Enabled',
    Filter: { ObjectSizeGreaterThan: 500 },
    NoncurrentVersionExpiration: { NoncurrentDays: 3 },
  },
  {
    ID: 'tag',
    Status: 'Disabled',
    Filter: { Tag: { Key: 'a', Value: 'b' } },
    Expiration: { Date: new Date('2030-01-01T00:00:00Z') },
  },
  {
    ...{ ID: 'and', Status: 'Enabled', Expiration: { Days: 2 } },
    Filter: { And: { Prefix: 'x/', ObjectSizeGreaterThan: 1, ObjectSizeLessThan: 500 } },
  },
];

it.each(rules.map((rule) => [rule.ID!, rule] as const))(
  'a lifecycle rule is read as it was put: %s',
  async (_, rule) => {
    const Bucket = await service.bucket();
    const LifecycleConfiguration = { Rules: [rule] };
    await service.client.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration }));
    const { Rules } = await service.client.send(new GetBucketLifecycleConfigurationCommand({ Bucket }));
    expect(Rules).toEqual([rule]);
  },
);

it('a bucket is created without object lock, as versions of the provider before 5 say', async () => {
  const Bucket = service.freeName('terraform');
  await service.client.send(new CreateBucketCommand({ Bucket, ACL: 'private', ObjectLockEnabledForBucket: false }));
  const failure = service.client.send(new GetObjectLockConfigurationCommand({ Bucket }));
  await expect(failure).rejects.toEqual(s3Error('ObjectLockConfigurationNotFoundError', 404));
  const encryption = service.client.send(new GetBucketEncryptionCommand({ Bucket }));
  // They look for these words, too.
  await expect(encryption).rejects.toThrow('encryption configuration was not found');
});

it('a bucket is created with object lock, and its configuration is read back as it was put', async () => {
  const Bucket = service.freeName('terraform');
  await service.client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
  const get = () => service.client.send(new GetObjectLockConfigurationCommand({ Bucket }));
  expect((await get()).ObjectLockConfiguration).toEqual({ ObjectLockEnabled: 'Enabled' });
  const Rule = { DefaultRetention: { Mode: 'COMPLIANCE', Days: 5 } } as const;
  const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled', Rule } as const;
  await service.client.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }));
  expect((await get()).ObjectLockConfiguration).toEqual(ObjectLockConfiguration);
  // To destroy `aws_s3_bucket_object_lock_configuration`, it puts one without a rule.
  const without = { ObjectLockEnabled: 'Enabled' } as const;
  await service.client.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration: without }));
  expect((await get()).ObjectLockConfiguration).toEqual(without);
});

it('a bucket may get its tags, its region and its ownership when it is created', async () => {
  const Bucket = service.freeName('terraform');
  const CreateBucketConfiguration = { LocationConstraint: 'eu-west-1' as const, Tags: tags };
  await service.client.send(
    new CreateBucketCommand({ Bucket, CreateBucketConfiguration, ObjectOwnership: 'BucketOwnerEnforced' }),
  );
  expect((await service.client.send(new GetBucketTaggingCommand({ Bucket }))).TagSet).toEqual(tags);
  const { LocationConstraint } = await service.client.send(new GetBucketLocationCommand({ Bucket }));
  expect(LocationConstraint).toBe('eu-west-1');
});
