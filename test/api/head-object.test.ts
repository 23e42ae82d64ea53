import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandInput,
  type HeadObjectCommandOutput,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { bodilessError } from '../support/clients/expect-error.ts';
import { md5Tag, put, setVersioning } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

function head(bucket: string, more: Partial<HeadObjectCommandInput> = {}): Promise<HeadObjectCommandOutput> {
  return service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'key', ...more }));
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html */
describe('HeadObject', () => {
  it('says all that GetObject says, without the bytes', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { Metadata: { a: 'b' }, CacheControl: 'no-cache' });
    const { $metadata: _, ...said } = await head(bucket, { ChecksumMode: 'ENABLED' });
    const {
      $metadata: _metadata,
      Body,
      ...got
    } = await service.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'key', ChecksumMode: 'ENABLED' }));
    await Body!.transformToString();
    expect(said).toEqual(got);
    expect(said).toMatchObject({ ContentLength: 7, ETag: md5Tag('content'), AcceptRanges: 'bytes', VersionId: 'null' });
  });

  it('measures a range', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', '0123456789');
    const { ContentLength, $metadata } = await head(bucket, { Range: 'bytes=2-4' });
    expect({ ContentLength, status: $metadata.httpStatusCode }).toEqual({ ContentLength: 3, status: 206 });
    await expect(head(bucket, { Range: 'bytes=10-' })).rejects.toEqual(bodilessError(416));
  });

  it('judges the conditions', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    await head(bucket, { IfMatch: md5Tag('content') });
    await expect(head(bucket, { IfMatch: md5Tag('other') })).rejects.toEqual(bodilessError(412));
    await expect(head(bucket, { IfNoneMatch: md5Tag('content') })).rejects.toEqual(bodilessError(304));
  });

  it('answers as GetObject what is missing, malformed, deleted or denied', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }));
    await expect(head(bucket)).rejects.toEqual(bodilessError(404));
    await expect(head(bucket, { VersionId: VersionId! })).rejects.toEqual(bodilessError(405));
    await expect(head(bucket, { Key: 'other' })).rejects.toEqual(bodilessError(404));
    await expect(head(bucket, { VersionId: 'no id' })).rejects.toEqual(bodilessError(400));
    await expect(head(service.freeName())).rejects.toEqual(bodilessError(404));
    const stranger = service.stranger.send(new HeadObjectCommand({ Bucket: bucket, Key: 'key' }));
    await expect(stranger).rejects.toEqual(bodilessError(403));
  });
});
