import { ListPartsCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { expectError, s3Error } from '../support/clients/expect-error.ts';
import { md5Tag, put, read } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { TestUpload } from '../support/storage/uploads.ts';

const service = serviceUnderTest();

const noSuchUpload = s3Error('NoSuchUpload', 404);

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPart.html */
describe('UploadPart', () => {
  it('answers the MD5 of the part', async () => {
    const upload = await TestUpload.begin(service.client, await service.bucket());
    expect((await upload.part(1, 'content')).ETag).toBe(md5Tag('content'));
    expect((await upload.part(10_000, '')).ETag).toBe(md5Tag(''));
  });

  it('takes a stream', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    const part = await upload.part(1, '', { Body: Readable.from(['con', 'tent']), ContentLength: 7 });
    expect(part.ETag).toBe(md5Tag('content'));
    await upload.complete([part]);
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });

  it('replaces a part that was uploaded before under its number', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    const first = await upload.part(1, 'first');
    const second = await upload.part(1, 'second');
    const { Parts } = await service.client.send(new ListPartsCommand(upload.target));
    expect(Parts!.map(({ PartNumber, ETag, Size }) => [PartNumber, ETag, Size])).toEqual([[1, md5Tag('second'), 6]]);
    expect(first.ETag).not.toBe(second.ETag);
    await upload.complete([second]);
    expect(await read(service.client, bucket, 'key')).toBe('second');
  });

  it('is found by its ETag when it was uploaded again since, the newest of those that match', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    const first = await upload.part(1, 'first', { ChecksumAlgorithm: 'SHA1' });
    const again = await upload.part(1, 'first', { ChecksumAlgorithm: 'SHA256' });
    await upload.part(1, 'second');
    expect(again.ETag).toBe(first.ETag);
    const done = await upload.complete([first]);
    expect(await read(service.client, bucket, 'key')).toBe('first');
    expect([done.ChecksumSHA1, done.ChecksumSHA256]).toEqual([undefined, expect.stringMatching(/-1$/)]);
  });

  it.each([0, -1, 10_001])('refuses the part number %i', async (number) => {
    const upload = await TestUpload.begin(service.client, await service.bucket());
    await expect(upload.part(number, 'x')).rejects.toEqual(s3Error('InvalidArgument', 400));
  });

  it('refuses a part whose checksum is another one than announced, and one without', async () => {
    const upload = await TestUpload.begin(service.client, await service.bucket(), 'key', {
      ChecksumAlgorithm: 'SHA256',
    });
    const digest = createHash('sha256').update('x').digest('base64');
    await upload.part(1, 'x', { ChecksumSHA256: digest });
    const wrongAlgorithm = upload.part(2, 'x', { ChecksumAlgorithm: 'CRC32' });
    await expect(wrongAlgorithm).rejects.toEqual(s3Error('InvalidRequest', 400));
    const wrongValue = upload.part(2, 'y', { ChecksumSHA256: digest });
    await expect(wrongValue).rejects.toEqual(s3Error('BadDigest', 400));
    const { Parts } = await service.client.send(new ListPartsCommand(upload.target));
    expect(Parts!.map(({ PartNumber, ChecksumSHA256 }) => [PartNumber, ChecksumSHA256])).toEqual([[1, digest]]);
  });

  it('returns the checksum of the part', async () => {
    const upload = await TestUpload.begin(service.client, await service.bucket(), 'key', { ChecksumAlgorithm: 'SHA1' });
    const digest = createHash('sha1').update('x').digest('base64');
    const part = await service.client.send(
      new UploadPartCommand({ ...upload.target, PartNumber: 1, Body: 'x', ChecksumAlgorithm: 'SHA1' }),
    );
    expect(part.ChecksumSHA1).toBe(digest);
  });

  it('knows an upload only by its bucket, its key and its id together', async () => {
    const bucket = await service.bucket();
    const other = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    await expect(upload.part(1, 'x', { UploadId: 'unknown' })).rejects.toEqual(noSuchUpload);
    await expect(upload.part(1, 'x', { Key: 'other' })).rejects.toEqual(noSuchUpload);
    await expect(upload.part(1, 'x', { Bucket: other })).rejects.toEqual(noSuchUpload);
  });

  it('is never taken for the whole object, if the id of the upload is lost', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    for (const headers of [{}, { 'x-amz-copy-source': `${bucket}/key`, 'x-amz-metadata-directive': 'REPLACE' }]) {
      const request = { method: 'PUT', path: `/${bucket}/key`, query: 'partNumber=1', headers, body: 'x' };
      expectError(await service.send(request), 400, 'InvalidArgument');
    }
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });

  it('comes too late once the upload is completed', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    await upload.complete([await upload.part(1, 'x')]);
    await expect(upload.part(1, 'late')).rejects.toEqual(noSuchUpload);
    expect(await read(service.client, bucket, 'key')).toBe('x');
  });

  it('answers 404 for no bucket and 403 to strangers', async () => {
    const upload = await TestUpload.begin(service.client, await service.bucket());
    await expect(upload.part(1, 'x', { Bucket: service.freeName() })).rejects.toEqual(s3Error('NoSuchBucket', 404));
    const strange = new UploadPartCommand({ ...upload.target, PartNumber: 1, Body: 'x' });
    await expect(service.stranger.send(strange)).rejects.toEqual(s3Error('AccessDenied', 403));
  });
});
