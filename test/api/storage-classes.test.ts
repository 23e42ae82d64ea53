import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  ListPartsCommand,
  RenameObjectCommand,
  UploadPartCommand,
  type StorageClass,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { expectError, s3Error } from '../support/clients/expect-error.ts';
import { formBody, formType, signedV4 } from '../support/clients/form.ts';
import { put, read } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

/** Returns the storage class in the response to HEAD, undefined for STANDARD. */
async function classOf(Bucket: string, Key = 'key'): Promise<StorageClass | undefined> {
  return (await service.client.send(new HeadObjectCommand({ Bucket, Key }))).StorageClass;
}

/** Returns the storage classes in the listings and in GetObjectAttributes. */
async function listedClasses(Bucket: string): Promise<readonly (string | undefined)[]> {
  const { client } = service;
  const ObjectAttributes = ['StorageClass' as const];
  return [
    (await client.send(new ListObjectsCommand({ Bucket }))).Contents![0]!.StorageClass,
    (await client.send(new ListObjectsV2Command({ Bucket }))).Contents![0]!.StorageClass,
    (await client.send(new ListObjectVersionsCommand({ Bucket }))).Versions![0]!.StorageClass,
    (await client.send(new GetObjectAttributesCommand({ Bucket, Key: 'key', ObjectAttributes }))).StorageClass,
  ];
}

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-class-intro.html */
describe('the storage class of an object', () => {
  it.each(['REDUCED_REDUNDANCY', 'STANDARD_IA', 'ONEZONE_IA', 'INTELLIGENT_TIERING', 'GLACIER_IR'] as const)(
    'is kept and shown: %s',
    async (StorageClass) => {
      const bucket = await service.bucket();
      await put(service.client, bucket, 'key', 'content', { StorageClass });
      expect(await classOf(bucket)).toBe(StorageClass);
      const got = await service.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'key' }));
      expect([got.StorageClass, await got.Body!.transformToString()]).toEqual([StorageClass, 'content']);
      expect(await listedClasses(bucket)).toEqual(Array(4).fill(StorageClass));
    },
  );

  it('is STANDARD unless it is asked for, and HEAD says nothing of that', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    expect(await classOf(bucket)).toBeUndefined();
    expect(await listedClasses(bucket)).toEqual(Array(4).fill('STANDARD'));
    await put(service.client, bucket, 'key', 'content', { StorageClass: 'STANDARD' });
    expect(await classOf(bucket)).toBeUndefined();
    expect(await listedClasses(bucket)).toEqual(Array(4).fill('STANDARD'));
  });

  it.each(['GLACIER', 'DEEP_ARCHIVE', 'standard_ia', 'FAST', ''])('cannot be %j', async (name) => {
    const bucket = await service.bucket();
    const request = { method: 'PUT', path: `/${bucket}/key`, headers: { 'x-amz-storage-class': name }, body: 'x' };
    expectError(await service.send(request), 400, 'InvalidStorageClass');
    await put(service.client, bucket, 'source', 'content');
    const copy = { 'x-amz-copy-source': `${bucket}/source`, ...request.headers };
    expectError(await service.send({ method: 'PUT', path: request.path, headers: copy }), 400, 'InvalidStorageClass');
    const begun = await service.send({ ...request, method: 'POST', query: 'uploads', body: '' });
    expectError(begun, 400, 'InvalidStorageClass');
    const fields = [['key', 'key'] as const, ['x-amz-storage-class', name] as const];
    const policy = signedV4(service.alice, [{ bucket }, ...fields.map(([field, value]) => ({ [field]: value }))]);
    const body = formBody([...fields, ...policy], { content: 'content' });
    const form = { method: 'POST', path: `/${bucket}`, headers: { 'content-type': formType }, body };
    expectError(await service.sendUnsigned(form), 400, 'InvalidStorageClass');
    await expect(read(service.client, bucket, 'key')).rejects.toEqual(s3Error('NoSuchKey', 404));
    expect((await service.client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads).toBeUndefined();
  });

  it('is that of the request for a copy, also onto itself, and goes with a rename', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { StorageClass: 'STANDARD_IA' });
    const source = { Bucket: bucket, CopySource: `${bucket}/key` };
    await service.client.send(new CopyObjectCommand({ ...source, Key: 'copy' }));
    expect(await classOf(bucket, 'copy')).toBeUndefined();
    const onto = { ...source, Key: 'key' };
    await service.client.send(new CopyObjectCommand({ ...onto, StorageClass: 'GLACIER_IR' }));
    expect(await classOf(bucket)).toBe('GLACIER_IR');
    const same = new CopyObjectCommand({ ...onto, StorageClass: 'GLACIER_IR' });
    await expect(service.client.send(same)).rejects.toEqual(s3Error('InvalidRequest', 400));
    await service.client.send(new CopyObjectCommand(onto));
    expect(await listedClasses(bucket)).toEqual(Array(4).fill('STANDARD'));
    await service.client.send(new CopyObjectCommand({ ...onto, StorageClass: 'GLACIER_IR' }));
    await service.client.send(new RenameObjectCommand({ Bucket: bucket, Key: 'new', RenameSource: 'key' }));
    expect(await classOf(bucket, 'new')).toBe('GLACIER_IR');
    expect(await read(service.client, bucket, 'new')).toBe('content');
  });

  it('is settled when an upload in parts begins', async () => {
    const { client } = service;
    const bucket = await service.bucket();
    const key = { Bucket: bucket, Key: 'key' };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...key, StorageClass: 'ONEZONE_IA' }));
    const upload = { ...key, UploadId };
    const { Uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
    const parts = await client.send(new ListPartsCommand(upload));
    expect([Uploads![0]!.StorageClass, parts.StorageClass]).toEqual(['ONEZONE_IA', 'ONEZONE_IA']);
    const { ETag, ChecksumCRC32 } = await client.send(
      new UploadPartCommand({ ...upload, PartNumber: 1, Body: 'content' }),
    );
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag, ChecksumCRC32 }] };
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload }));
    expect(await classOf(bucket)).toBe('ONEZONE_IA');
    expect(await listedClasses(bucket)).toEqual(Array(4).fill('ONEZONE_IA'));
  });
});
