import { CreateBucketCommand, GetBucketLocationCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { s3Error } from '../support/expect-error.ts';
import { serviceUnderTest } from '../support/service-under-test.ts';

const service = serviceUnderTest();

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLocation.html */
describe('GetBucketLocation', () => {
  it('gives the first region no name, wherever the client wanted the bucket', async () => {
    const bucket = service.freeName();
    await service.client.send(
      new CreateBucketCommand({ Bucket: bucket, CreateBucketConfiguration: { LocationConstraint: 'eu-central-1' } }),
    );
    const { LocationConstraint } = await service.client.send(new GetBucketLocationCommand({ Bucket: bucket }));
    expect(LocationConstraint ?? '').toBe('');
  });

  it('answers 404 for no bucket and 403 to strangers', async () => {
    await expect(service.client.send(new GetBucketLocationCommand({ Bucket: service.freeName() }))).rejects.toEqual(
      s3Error('NoSuchBucket', 404),
    );
    const bucket = await service.bucket();
    await expect(service.stranger.send(new GetBucketLocationCommand({ Bucket: bucket }))).rejects.toEqual(
      s3Error('AccessDenied', 403),
    );
  });
});
