import {
  AbortMultipartUploadCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { bodilessError, s3Error } from '../support/clients/expect-error.ts';
import { read } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { TestUpload } from '../support/storage/uploads.ts';

const service = serviceUnderTest();

const noSuchUpload = s3Error('NoSuchUpload', 404);

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_AbortMultipartUpload.html */
describe('AbortMultipartUpload', () => {
  it('ends an upload without an object', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    const part = await upload.part(1, 'x');
    const { $metadata } = await service.client.send(new AbortMultipartUploadCommand(upload.target));
    expect($metadata.httpStatusCode).toBe(204);
    await expect(service.client.send(new ListPartsCommand(upload.target))).rejects.toEqual(noSuchUpload);
    await expect(upload.part(2, 'late')).rejects.toEqual(noSuchUpload);
    await expect(upload.complete([part])).rejects.toEqual(noSuchUpload);
    const { Uploads } = await service.client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
    expect(Uploads).toBeUndefined();
    const head = service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'key' }));
    await expect(head).rejects.toEqual(bodilessError(404));
  });

  it('ends this upload only', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    const other = await TestUpload.begin(service.client, bucket);
    await service.client.send(new AbortMultipartUploadCommand(upload.target));
    await other.complete([await other.part(1, 'other')]);
    expect(await read(service.client, bucket, 'key')).toBe('other');
  });

  it('answers 404 for an upload that is not there (any more)', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    const abort = (more: object = {}): Promise<unknown> =>
      service.client.send(new AbortMultipartUploadCommand({ ...upload.target, ...more }));
    await expect(abort({ UploadId: 'unknown' })).rejects.toEqual(noSuchUpload);
    await expect(abort({ Key: 'other' })).rejects.toEqual(noSuchUpload);
    await expect(abort({ Bucket: await service.bucket() })).rejects.toEqual(noSuchUpload);
    await expect(abort({ Bucket: service.freeName() })).rejects.toEqual(s3Error('NoSuchBucket', 404));
    await abort();
    await expect(abort()).rejects.toEqual(noSuchUpload);
  });

  it('cannot undo a completion', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    await upload.complete([await upload.part(1, 'x')]);
    const abort = service.client.send(new AbortMultipartUploadCommand(upload.target));
    await expect(abort).rejects.toEqual(noSuchUpload);
    expect(await read(service.client, bucket, 'key')).toBe('x');
  });

  it('is denied to strangers', async () => {
    const upload = await TestUpload.begin(service.client, await service.bucket());
    const strange = service.stranger.send(new AbortMultipartUploadCommand(upload.target));
    await expect(strange).rejects.toEqual(s3Error('AccessDenied', 403));
    await service.client.send(new ListPartsCommand(upload.target));
  });
});
