import { CreateMultipartUploadCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { bodilessError, s3Error } from '../support/clients/expect-error.ts';
import { put, read, setVersioning, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { TestUpload } from '../support/storage/uploads.ts';

const service = serviceUnderTest();

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateMultipartUpload.html */
describe('CreateMultipartUpload', () => {
  it('begins an upload that is not an object yet', async () => {
    const bucket = await service.bucket();
    const created = await service.client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'a key' }));
    expect(created).toMatchObject({ Bucket: bucket, Key: 'a key', UploadId: expect.stringMatching(/./) as string });
    const head = service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'a key' }));
    await expect(head).rejects.toEqual(bodilessError(404));
    expect(await versionsOf(service.client, bucket)).toEqual([]);
  });

  it('begins as many uploads of a key as are asked for, each on its own', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'before');
    const uploads = [await TestUpload.begin(service.client, bucket), await TestUpload.begin(service.client, bucket)];
    expect(uploads[0]!.id).not.toBe(uploads[1]!.id);
    const parts = [await uploads[0]!.part(1, 'first'), await uploads[1]!.part(1, 'second')];
    expect(await read(service.client, bucket, 'key')).toBe('before');
    await uploads[1]!.complete([parts[1]!]);
    expect(await read(service.client, bucket, 'key')).toBe('second');
    await uploads[0]!.complete([parts[0]!]);
    expect(await read(service.client, bucket, 'key')).toBe('first');
  });

  it('keeps headers, metadata and tags for the object to come', async () => {
    const bucket = await service.bucket();
    const headers = {
      ContentType: 'text/plain',
      ContentDisposition: 'inline',
      ContentLanguage: 'de',
      CacheControl: 'no-cache',
      Metadata: { colour: 'red' },
      WebsiteRedirectLocation: '/elsewhere',
    };
    const upload = await TestUpload.begin(service.client, bucket, 'key', { ...headers, Tagging: 'a=1&b=2' });
    await upload.complete([await upload.part(1, 'x')]);
    const head = await service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'key' }));
    expect(head).toMatchObject({ ...headers, TagCount: 2 });
  });

  it.each([
    [{ ChecksumAlgorithm: 'CRC32' }, 'CRC32', 'COMPOSITE'],
    [{ ChecksumAlgorithm: 'CRC32C' }, 'CRC32C', 'COMPOSITE'],
    [{ ChecksumAlgorithm: 'CRC32C', ChecksumType: 'FULL_OBJECT' }, 'CRC32C', 'FULL_OBJECT'],
    [{ ChecksumAlgorithm: 'CRC64NVME' }, 'CRC64NVME', 'FULL_OBJECT'],
    [{ ChecksumAlgorithm: 'SHA1' }, 'SHA1', 'COMPOSITE'],
    [{ ChecksumAlgorithm: 'SHA256', ChecksumType: 'COMPOSITE' }, 'SHA256', 'COMPOSITE'],
  ] as const)('says which checksum the object will have: %j', async (asked, ChecksumAlgorithm, ChecksumType) => {
    const bucket = await service.bucket();
    const created = await service.client.send(
      new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'key', ...asked }),
    );
    expect(created).toMatchObject({ ChecksumAlgorithm, ChecksumType });
  });

  it.each([
    { ChecksumAlgorithm: 'SHA256', ChecksumType: 'FULL_OBJECT' },
    { ChecksumAlgorithm: 'SHA1', ChecksumType: 'FULL_OBJECT' },
    { ChecksumAlgorithm: 'CRC64NVME', ChecksumType: 'COMPOSITE' },
    { ChecksumAlgorithm: 'CRC32', ChecksumType: 'nonsense' },
    { ChecksumAlgorithm: 'MD2' },
    { ChecksumType: 'FULL_OBJECT' },
  ])('refuses %j', async (asked) => {
    const bucket = await service.bucket();
    const created = service.client.send(
      new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'key', ...(asked as object) }),
    );
    await expect(created).rejects.toEqual(s3Error('InvalidRequest', 400));
  });

  it('does not add a version before it is completed', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const upload = await TestUpload.begin(service.client, bucket);
    await upload.part(1, 'x');
    expect(await versionsOf(service.client, bucket)).toEqual([]);
  });

  it('answers 404 for no bucket and 403 to strangers', async () => {
    await expect(TestUpload.begin(service.client, service.freeName())).rejects.toEqual(s3Error('NoSuchBucket', 404));
    const bucket = await service.bucket();
    await expect(TestUpload.begin(service.stranger, bucket)).rejects.toEqual(s3Error('AccessDenied', 403));
  });
});
