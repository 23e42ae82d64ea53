import {
  GetBucketLoggingCommand,
  PutBucketLoggingCommand,
  PutBucketOwnershipControlsCommand,
  PutBucketPolicyCommand,
  PutObjectLockConfigurationCommand,
  PutBucketVersioningCommand,
  type BucketLoggingStatus,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { isCloud } from '../support/cloud/deployed.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketLogging.html */

const service = serviceUnderTest();

const put = (Bucket: string, BucketLoggingStatus: BucketLoggingStatus, client = service.client) =>
  client.send(new PutBucketLoggingCommand({ Bucket, BucketLoggingStatus }));
const get = async (Bucket: string) =>
  (await service.client.send(new GetBucketLoggingCommand({ Bucket }))).LoggingEnabled;
const invalidTarget = s3Error('InvalidTargetBucketForLogging', 400);

describe('an access log', () => {
  it('is off at first, and can be put off', async () => {
    const bucket = await service.bucket();
    expect(await get(bucket)).toBeUndefined();
    await put(bucket, {});
    expect(await get(bucket)).toBeUndefined();
  });

  it('may be put on one machine alone', async () => {
    const bucket = await service.bucket();
    const LoggingEnabled = { TargetBucket: bucket, TargetPrefix: '' };
    const answer = await put(bucket, { LoggingEnabled }).then(
      () => 'done',
      ({ name }: Error) => name,
    );
    expect(answer).toBe(isCloud ? 'NotImplemented' : 'done');
  });
});

describe.skipIf(isCloud)('the setting of an access log', () => {
  it('is shown as it was put, and an empty one takes it away', async () => {
    const [bucket, target] = [await service.bucket(), await service.bucket()];
    for (const format of [
      {},
      { TargetObjectKeyFormat: { SimplePrefix: {} } },
      { TargetObjectKeyFormat: { PartitionedPrefix: { PartitionDateSource: 'EventTime' as const } } },
      { TargetObjectKeyFormat: { PartitionedPrefix: { PartitionDateSource: 'DeliveryTime' as const } } },
    ]) {
      const LoggingEnabled = { TargetBucket: target, TargetPrefix: 'a b/', ...format };
      await put(bucket, { LoggingEnabled });
      expect(await get(bucket)).toEqual(LoggingEnabled);
    }
    await put(bucket, {});
    expect(await get(bucket)).toBeUndefined();
  });

  it('may name the bucket itself', async () => {
    const bucket = await service.bucket();
    await put(bucket, { LoggingEnabled: { TargetBucket: bucket, TargetPrefix: '' } });
    expect(await get(bucket)).toEqual({ TargetBucket: bucket, TargetPrefix: '' });
  });

  it('grants others access to the log objects', async () => {
    const [bucket, target] = [await service.bucket(), await service.bucket()];
    const URI = 'http://acs.amazonaws.com/groups/global/AuthenticatedUsers';
    const TargetGrants = [{ Grantee: { Type: 'Group' as const, URI }, Permission: 'READ' as const }];
    await put(bucket, { LoggingEnabled: { TargetBucket: target, TargetPrefix: '', TargetGrants } });
    expect((await get(bucket))?.TargetGrants).toEqual(TargetGrants);

    const Rules = [{ ObjectOwnership: 'BucketOwnerEnforced' as const }];
    const controls = { Bucket: target, OwnershipControls: { Rules } };
    await service.client.send(new PutBucketOwnershipControlsCommand(controls));
    const again = put(bucket, { LoggingEnabled: { TargetBucket: target, TargetPrefix: '', TargetGrants } });
    await expect(again).rejects.toEqual(s3Error('AccessControlListNotSupported', 400));
  });

  it('needs a target of the same owner, that exists and retains nothing', async () => {
    const bucket = await service.bucket();
    const to = (TargetBucket: string, client = service.client) =>
      put(bucket, { LoggingEnabled: { TargetBucket, TargetPrefix: '' } }, client);
    for (const none of [service.freeName(), 'ü/'.repeat(1000), '']) {
      await expect(to(none)).rejects.toEqual(invalidTarget);
    }

    // Of a stranger who lets everybody write.
    const foreign = service.freeName('foreign');
    const { CreateBucketCommand, DeleteBucketCommand } = await import('@aws-sdk/client-s3');
    await service.stranger.send(new CreateBucketCommand({ Bucket: foreign, ACL: 'public-read-write' }));
    try {
      await expect(to(foreign)).rejects.toEqual(invalidTarget);
    } finally {
      await service.stranger.send(new DeleteBucketCommand({ Bucket: foreign }));
    }

    const locked = await service.bucket();
    const VersioningConfiguration = { Status: 'Enabled' as const };
    await service.client.send(new PutBucketVersioningCommand({ Bucket: locked, VersioningConfiguration }));
    const lock = (Rule?: object) =>
      service.client.send(
        new PutObjectLockConfigurationCommand({
          Bucket: locked,
          ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled', ...Rule },
        }),
      );
    await lock({ Rule: { DefaultRetention: { Mode: 'GOVERNANCE', Days: 1 } } });
    await expect(to(locked)).rejects.toEqual(invalidTarget);
    await lock();
    await to(locked);
  });

  it('has a prefix that leaves room for the rest of the key', async () => {
    const bucket = await service.bucket();
    const to = (TargetPrefix: string) => put(bucket, { LoggingEnabled: { TargetBucket: bucket, TargetPrefix } });
    await to('p'.repeat(800));
    await expect(to('p'.repeat(1000))).rejects.toEqual(s3Error('InvalidArgument', 400));
  });

  it('is for the owner, and for whom a policy allows it', async () => {
    const bucket = await service.bucket();
    const denied = s3Error('AccessDenied', 403);
    const off = () => put(bucket, {}, service.stranger);
    const read = () => service.stranger.send(new GetBucketLoggingCommand({ Bucket: bucket }));
    await expect(off()).rejects.toEqual(denied);
    await expect(read()).rejects.toEqual(denied);
    const Policy = JSON.stringify({
      Version: '2012-10-17',
      Statement: {
        Effect: 'Allow',
        Principal: '*',
        Action: ['s3:GetBucketLogging', 's3:PutBucketLogging'],
        Resource: `arn:aws:s3:::${bucket}`,
      },
    });
    await service.client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
    await off();
    await read();
  });

  it.each([
    ['<LoggingEnabled><TargetPrefix/></LoggingEnabled>'],
    ['<LoggingEnabled><TargetBucket>b</TargetBucket></LoggingEnabled>'],
    ['<LoggingEnabled/>'],
    ['<Unknown/>'],
    [
      '<LoggingEnabled><TargetBucket>b</TargetBucket><TargetPrefix/><TargetObjectKeyFormat><SimplePrefix/><PartitionedPrefix/></TargetObjectKeyFormat></LoggingEnabled>',
    ],
    [
      '<LoggingEnabled><TargetBucket>b</TargetBucket><TargetPrefix/><TargetObjectKeyFormat><PartitionedPrefix><PartitionDateSource>Never</PartitionDateSource></PartitionedPrefix></TargetObjectKeyFormat></LoggingEnabled>',
    ],
    [
      '<LoggingEnabled><TargetBucket>b</TargetBucket><TargetPrefix/><TargetGrants><Grant><Permission>READ</Permission></Grant></TargetGrants></LoggingEnabled>',
    ],
  ])('is no %s', async (inner) => {
    const bucket = await service.bucket();
    const body = `<BucketLoggingStatus xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner}</BucketLoggingStatus>`;
    const { status, text } = await service.send({ method: 'PUT', path: `/${bucket}`, query: 'logging', body });
    expect([status, text]).toEqual([400, expect.stringContaining('<Code>MalformedXML</Code>')]);
  });
});
