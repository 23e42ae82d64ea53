import { DeleteObjectCommand, HeadBucketCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { bodilessError } from '../support/clients/expect-error.ts';
import { put, setVersioning } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

/** Returns the counters in the headers of Ceph RGW. */
async function counters(bucket: string): Promise<string> {
  const { header } = await service.send({ method: 'HEAD', path: `/${bucket}` });
  return `${header('x-rgw-object-count')} objects, ${header('x-rgw-bytes-used')} bytes`;
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html */
describe('HeadBucket', () => {
  it('tells the owner that the bucket exists, and its region', async () => {
    const bucket = await service.bucket();
    const { BucketRegion } = await service.client.send(new HeadBucketCommand({ Bucket: bucket }));
    expect(BucketRegion).toBe('us-east-1');
  });

  it('answers 404 for no bucket', async () => {
    await expect(service.client.send(new HeadBucketCommand({ Bucket: service.freeName() }))).rejects.toEqual(
      bodilessError(404),
    );
  });

  it('answers 403 to strangers', async () => {
    const bucket = await service.bucket();
    await expect(service.stranger.send(new HeadBucketCommand({ Bucket: bucket }))).rejects.toEqual(bodilessError(403));
  });

  it('tells its region also to those whom it refuses, which SDKs ask without a signature', async () => {
    const bucket = await service.bucket();
    const refused = await service.sendUnsigned({ method: 'HEAD', path: `/${bucket}` });
    expect([refused.status, refused.header('x-amz-bucket-region')]).toEqual([403, 'us-east-1']);
    const none = await service.sendUnsigned({ method: 'HEAD', path: `/${service.freeName()}` });
    expect([none.status, none.header('x-amz-bucket-region')]).toEqual([404, undefined]);
  });

  it('counts objects and bytes, whatever becomes of them', async () => {
    const bucket = await service.bucket();
    await expect.poll(() => counters(bucket)).toBe('0 objects, 0 bytes');
    await put(service.client, bucket, 'one', '12345');
    await put(service.client, bucket, 'two', '123');
    await expect.poll(() => counters(bucket)).toBe('2 objects, 8 bytes');
    await put(service.client, bucket, 'one', '1');
    await expect.poll(() => counters(bucket)).toBe('2 objects, 4 bytes');
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'two' }));
    await expect.poll(() => counters(bucket)).toBe('1 objects, 1 bytes');
  });

  it('counts every version, and no delete markers', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const first = await put(service.client, bucket, 'key', '12345');
    await put(service.client, bucket, 'key', '123');
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }));
    await expect.poll(() => counters(bucket)).toBe('2 objects, 8 bytes');
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key', VersionId: first.VersionId }));
    await expect.poll(() => counters(bucket)).toBe('1 objects, 3 bytes');
  });
});
