import {
  CreateBucketCommand,
  DeleteBucketCommand,
  HeadBucketCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  CreateMultipartUploadCommand,
  PutBucketVersioningCommand,
  GetBucketVersioningCommand,
} from '@aws-sdk/client-s3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bodilessError, s3Error } from '../support/clients/expect-error.ts';
import { put } from '../support/storage/objects.ts';
import { serviceUnderTest, takesSettings } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html */
describe('CreateBucket', () => {
  it('creates a bucket, which is there at once, and says where it is', async () => {
    const bucket = service.freeName();
    const { Location } = await service.client.send(new CreateBucketCommand({ Bucket: bucket }));
    expect(Location).toBe(`/${bucket}`);
    await service.client.send(new HeadBucketCommand({ Bucket: bucket }));
  });

  it('succeeds again for the owner and changes nothing', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'kept');
    const created = async (): Promise<Date | undefined> =>
      (await service.client.send(new ListBucketsCommand({ Prefix: bucket }))).Buckets![0]!.CreationDate;
    const before = await created();
    await service.client.send(new CreateBucketCommand({ Bucket: bucket }));
    expect(await created()).toEqual(before);
    expect((await service.client.send(new ListObjectsV2Command({ Bucket: bucket }))).KeyCount).toBe(1);
  });

  it('is denied to others while the name is taken', async () => {
    const bucket = await service.bucket();
    await expect(service.stranger.send(new CreateBucketCommand({ Bucket: bucket }))).rejects.toEqual(
      s3Error('BucketAlreadyExists', 409),
    );
  });

  it('gives a free name to exactly one of many who want it', async () => {
    for (let round = 0; round < 5; round++) {
      const bucket = service.freeName();
      const wanting = Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? service.client : service.stranger));
      const outcomes = await Promise.allSettled(
        wanting.map((client) => client.send(new CreateBucketCommand({ Bucket: bucket }))),
      );
      const byAlice = outcomes.filter((_, n) => n % 2 === 0);
      const byBob = outcomes.filter((_, n) => n % 2 === 1);
      const [won, lost] = byAlice[0]!.status === 'fulfilled' ? [byAlice, byBob] : [byBob, byAlice];
      expect(won.map(({ status }) => status)).toEqual(won.map(() => 'fulfilled'));
      for (const outcome of lost) {
        expect(outcome).toEqual({ status: 'rejected', reason: s3Error('BucketAlreadyExists', 409) });
      }
      if (won === byBob) await service.stranger.send(new DeleteBucketCommand({ Bucket: bucket }));
    }
  });

  it('gives a deleted name away at once, without anything that was in the bucket', async () => {
    const bucket = await service.bucket();
    const versioned = { Bucket: bucket, VersioningConfiguration: { Status: 'Enabled' } } as const;
    await service.client.send(new PutBucketVersioningCommand(versioned));
    await service.client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'open' }));
    await service.client.send(new DeleteBucketCommand({ Bucket: bucket }));
    await expect(service.client.send(new HeadBucketCommand({ Bucket: bucket }))).rejects.toEqual(bodilessError(404));

    await service.stranger.send(new CreateBucketCommand({ Bucket: bucket }));
    onTestFinished(async () => {
      await service.stranger.send(new DeleteBucketCommand({ Bucket: bucket }));
    });
    const { Uploads } = await service.stranger.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
    expect(Uploads).toBeUndefined();
    expect((await service.stranger.send(new ListObjectsV2Command({ Bucket: bucket }))).KeyCount).toBe(0);
    expect((await service.stranger.send(new GetBucketVersioningCommand({ Bucket: bucket }))).Status).toBeUndefined();
    await expect(service.client.send(new HeadBucketCommand({ Bucket: bucket }))).rejects.toEqual(bodilessError(403));
  });

  it.each(['eu-central-1', 'EU', 'us-east-1', 'self-hosted'])('takes the region %s', async (region) => {
    const request = { Bucket: service.freeName(), CreateBucketConfiguration: { LocationConstraint: region as 'EU' } };
    await service.client.send(new CreateBucketCommand(request));
  });

  it('refuses what cannot be a region', async () => {
    const bucket = service.freeName();
    const request = { Bucket: bucket, CreateBucketConfiguration: { LocationConstraint: 'no region' as 'EU' } };
    await expect(service.client.send(new CreateBucketCommand(request))).rejects.toEqual(
      s3Error('InvalidLocationConstraint', 400),
    );
    await expect(service.client.send(new HeadBucketCommand({ Bucket: bucket }))).rejects.toEqual(bodilessError(404));
  });

  it('refuses a name that breaks the rules', async () => {
    await expect(service.client.send(new CreateBucketCommand({ Bucket: 'Upper-Case' }))).rejects.toEqual(
      s3Error('InvalidBucketName', 400),
    );
  });
});

describe.runIf(takesSettings)('the buckets of a project', () => {
  const own = serviceUnderTest({ args: ['--limit', 'bucketsPerProject=50'] });

  it('are 50 at most, of which deleted ones are none', async () => {
    const { client } = own;
    const create = (n: number) => client.send(new CreateBucketCommand({ Bucket: `bucket-${n}` }));
    for (let n = 1; n <= 50; n++) await create(n);
    await expect(create(51)).rejects.toEqual(s3Error('TooManyBuckets', 400));
    await create(50);
    await client.send(new DeleteBucketCommand({ Bucket: 'bucket-1' }));
    await create(51);
    await expect(create(1)).rejects.toEqual(s3Error('TooManyBuckets', 400));
  });
});
