import {
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  HeadBucketCommand,
  ListPartsCommand,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { bodilessError, s3Error } from '../support/clients/expect-error.ts';
import { put, setVersioning, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

const deletion = (bucket: string): Promise<unknown> => service.client.send(new DeleteBucketCommand({ Bucket: bucket }));
const notEmpty = s3Error('BucketNotEmpty', 409);

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucket.html */
describe('DeleteBucket', () => {
  it('deletes an empty bucket at once', async () => {
    const bucket = await service.bucket();
    const { $metadata } = await service.client.send(new DeleteBucketCommand({ Bucket: bucket }));
    expect($metadata.httpStatusCode).toBe(204);
    await expect(service.client.send(new HeadBucketCommand({ Bucket: bucket }))).rejects.toEqual(bodilessError(404));
    await expect(deletion(bucket)).rejects.toEqual(s3Error('NoSuchBucket', 404));
  });

  it('refuses while there is an object', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key');
    await expect(deletion(bucket)).rejects.toEqual(notEmpty);
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }));
    await deletion(bucket);
  });

  it('refuses while there is a version or a delete marker', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'key');
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }));
    await expect(deletion(bucket)).rejects.toEqual(notEmpty);
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key', VersionId }));
    await expect(deletion(bucket)).rejects.toEqual(notEmpty);
    const [marker] = await versionsOf(service.client, bucket);
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key', VersionId: marker!.id }));
    await deletion(bucket);
  });

  it('ends uploads that are open', async () => {
    const bucket = await service.bucket();
    const { UploadId } = await service.client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'key' }));
    await deletion(bucket);
    await expect(service.client.send(new ListPartsCommand({ Bucket: bucket, Key: 'key', UploadId }))).rejects.toEqual(
      s3Error('NoSuchBucket', 404),
    );
  });

  it('is denied to strangers', async () => {
    const bucket = await service.bucket();
    await expect(service.stranger.send(new DeleteBucketCommand({ Bucket: bucket }))).rejects.toEqual(
      s3Error('AccessDenied', 403),
    );
  });
});
