import {
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  type GetObjectCommandInput,
  type GetObjectCommandOutput,
} from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { describe, expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { md5Tag, put, read, setVersioning } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

async function get(
  bucket: string,
  more: Partial<GetObjectCommandInput> = {},
): Promise<GetObjectCommandOutput & { text: string }> {
  const output = await service.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'key', ...more }));
  return { ...output, text: await output.Body!.transformToString() };
}

/** A bucket with one object `key` of the given content. */
async function holding(content: string): Promise<string> {
  const bucket = await service.bucket();
  await put(service.client, bucket, 'key', content);
  return bucket;
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html */
describe('GetObject', () => {
  it('returns the bytes and what is known of them', async () => {
    const before = Date.now();
    const bucket = await holding('content');
    const object = await get(bucket);
    expect(object).toMatchObject({
      text: 'content',
      ContentLength: 7,
      ContentType: 'application/octet-stream',
      ETag: md5Tag('content'),
      AcceptRanges: 'bytes',
      VersionId: 'null',
      Metadata: {},
    });
    expect(object.LastModified!.getTime()).toBeGreaterThan(before - 2000);
    expect(object.LastModified!.getTime()).toBeLessThan(Date.now() + 2000);
  });

  it('returns every byte value as it was', async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, n) => (n * 7 + (n >> 8)) % 256);
    const bucket = await service.bucket();
    await service.client.send(new PutObjectCommand({ Bucket: bucket, Key: 'key', Body: bytes }));
    const { Body } = await service.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'key' }));
    expect(Buffer.from(await Body!.transformToByteArray()).equals(bytes)).toBe(true);
  });

  it('returns a version by its id, the null version included', async () => {
    const bucket = await holding('null');
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'key', 'second');
    await put(service.client, bucket, 'key', 'third');
    expect(await read(service.client, bucket, 'key', VersionId)).toBe('second');
    expect(await read(service.client, bucket, 'key', 'null')).toBe('null');
    expect((await get(bucket, { VersionId: VersionId! })).VersionId).toBe(VersionId);
    expect((await get(bucket)).text).toBe('third');
  });

  it('answers 404 for a key that is not there, a version that is not, and a bucket that is not', async () => {
    const bucket = await holding('content');
    await expect(get(bucket, { Key: 'other' })).rejects.toEqual(s3Error('NoSuchKey', 404));
    await expect(get(bucket, { VersionId: 'x'.repeat(32) })).rejects.toEqual(s3Error('NoSuchKey', 404));
    await expect(get(service.freeName())).rejects.toEqual(s3Error('NoSuchBucket', 404));
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'other', 'x');
    await expect(get(bucket, { VersionId: VersionId! })).rejects.toEqual(s3Error('NoSuchKey', 404));
  });

  it.each(['with blanks in it', 'x'.repeat(1025), 'ä'])('refuses what cannot be a version id', async (VersionId) => {
    const bucket = await holding('content');
    await expect(get(bucket, { VersionId })).rejects.toEqual(s3Error('InvalidArgument', 400));
  });

  it('finds a delete marker instead of the object, or by its id', async () => {
    const bucket = await holding('content');
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }));
    await expect(get(bucket)).rejects.toEqual(s3Error('NoSuchKey', 404));
    await expect(get(bucket, { VersionId: VersionId! })).rejects.toEqual(s3Error('MethodNotAllowed', 405));
    expect((await get(bucket, { VersionId: 'null' })).text).toBe('content');
  });

  it('returns the bytes of a range', async () => {
    const bucket = await holding('0123456789');
    expect(await get(bucket, { Range: 'bytes=2-4' })).toMatchObject({
      text: '234',
      ContentLength: 3,
      ContentRange: 'bytes 2-4/10',
      ETag: md5Tag('0123456789'),
    });
    expect(await get(bucket, { Range: 'bytes=-3' })).toMatchObject({ text: '789', ContentRange: 'bytes 7-9/10' });
    expect(await get(bucket, { Range: 'bytes=8-' })).toMatchObject({ text: '89', ContentRange: 'bytes 8-9/10' });
    await expect(get(bucket, { Range: 'bytes=10-' })).rejects.toEqual(s3Error('InvalidRange', 416));
  });

  it('returns the object only if the conditions hold', async () => {
    const bucket = await holding('content');
    const tag = md5Tag('content');
    const notModified = expect.objectContaining({
      $metadata: expect.objectContaining({ httpStatusCode: 304 }) as object,
    }) as unknown;
    expect((await get(bucket, { IfMatch: tag })).text).toBe('content');
    expect((await get(bucket, { IfNoneMatch: md5Tag('other') })).text).toBe('content');
    await expect(get(bucket, { IfMatch: md5Tag('other') })).rejects.toEqual(s3Error('PreconditionFailed', 412));
    await expect(get(bucket, { IfNoneMatch: tag })).rejects.toEqual(notModified);
    const past = new Date(Date.now() - 3_600_000);
    const future = new Date(Date.now() + 3_600_000);
    expect((await get(bucket, { IfModifiedSince: past })).text).toBe('content');
    await expect(get(bucket, { IfModifiedSince: future })).rejects.toEqual(notModified);
    expect((await get(bucket, { IfUnmodifiedSince: future })).text).toBe('content');
    await expect(get(bucket, { IfUnmodifiedSince: past })).rejects.toEqual(s3Error('PreconditionFailed', 412));
  });

  it('replaces headers of the answer as asked', async () => {
    const bucket = await holding('content');
    const object = await get(bucket, {
      ResponseContentType: 'text/html; charset=utf-8',
      ResponseContentLanguage: 'de',
      ResponseExpires: new Date('2031-02-03T04:05:06Z'),
      ResponseCacheControl: 'no-store',
      ResponseContentDisposition: 'attachment; filename="ü.txt"',
      ResponseContentEncoding: 'identity',
    });
    expect(object).toMatchObject({
      text: 'content',
      ContentType: 'text/html; charset=utf-8',
      ContentLanguage: 'de',
      ExpiresString: 'Mon, 03 Feb 2031 04:05:06 GMT',
      CacheControl: 'no-store',
      ContentEncoding: 'identity',
    });
    expect(object.ContentDisposition).toContain('attachment; filename=');
  });

  it('returns the checksum when asked for it, and not with a range', async () => {
    const bucket = await service.bucket();
    const digest = createHash('sha1').update('content').digest('base64');
    await put(service.client, bucket, 'key', 'content', { ChecksumSHA1: digest });
    expect(await get(bucket, { ChecksumMode: 'ENABLED' })).toMatchObject({
      ChecksumSHA1: digest,
      ChecksumType: 'FULL_OBJECT',
    });
    const quiet = service.sdk(service.alice, { responseChecksumValidation: 'WHEN_REQUIRED' });
    const plain = await quiet.send(new GetObjectCommand({ Bucket: bucket, Key: 'key' }));
    expect(plain.ChecksumSHA1).toBeUndefined();
    const part = await get(bucket, { ChecksumMode: 'ENABLED', Range: 'bytes=0-1' });
    expect(part.ChecksumSHA1).toBeUndefined();
    quiet.destroy();
  });

  it('can be read by anybody who has a presigned URL, for as long as it is valid', async () => {
    const bucket = await holding('content');
    const url = await getSignedUrl(service.client, new GetObjectCommand({ Bucket: bucket, Key: 'key' }), {
      expiresIn: 60,
    });
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('content');
  });

  it('is denied to strangers, whether the key exists or not', async () => {
    const bucket = await holding('content');
    for (const Key of ['key', 'other']) {
      const request = service.stranger.send(new GetObjectCommand({ Bucket: bucket, Key }));
      await expect(request).rejects.toEqual(s3Error('AccessDenied', 403));
    }
  });
});
