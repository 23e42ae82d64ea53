import { ListPartsCommand, type ListPartsCommandInput, type ListPartsCommandOutput } from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { md5Tag } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { TestUpload } from '../support/storage/uploads.ts';

const service = serviceUnderTest();

function list(upload: TestUpload, more: Partial<ListPartsCommandInput> = {}): Promise<ListPartsCommandOutput> {
  return service.client.send(new ListPartsCommand({ ...upload.target, ...more }));
}

const numbers = ({ Parts = [] }: ListPartsCommandOutput) => Parts.map(({ PartNumber }) => PartNumber);

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListParts.html */
describe('ListParts', () => {
  it('lists the parts by their numbers, and whose upload it is', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    expect(await list(upload)).toMatchObject({ IsTruncated: false });
    await upload.part(10, 'ten');
    await upload.part(9, 'nine!');
    const page = await list(upload);
    const somebody = { ID: expect.stringMatching(/./) as string, DisplayName: expect.stringMatching(/./) as string };
    expect(page).toMatchObject({
      Bucket: bucket,
      Key: 'key',
      UploadId: upload.id,
      StorageClass: 'STANDARD',
      MaxParts: 1000,
      IsTruncated: false,
      PartNumberMarker: '0',
      Owner: somebody,
      Initiator: somebody,
    });
    const LastModified = expect.any(Date) as Date;
    expect(page.Parts!.map(({ ChecksumCRC32: _, ChecksumCRC64NVME: __, ...part }) => part)).toEqual([
      { PartNumber: 9, ETag: md5Tag('nine!'), Size: 5, LastModified },
      { PartNumber: 10, ETag: md5Tag('ten'), Size: 3, LastModified },
    ]);
  });

  it('gives page after page', async () => {
    const upload = await TestUpload.begin(service.client, await service.bucket());
    for (const number of [1, 2, 5, 7, 9_999]) await upload.part(number, 'x');
    const first = await list(upload, { MaxParts: 2 });
    expect(first).toMatchObject({ IsTruncated: true, NextPartNumberMarker: '2', MaxParts: 2 });
    expect(numbers(first)).toEqual([1, 2]);
    const second = await list(upload, { MaxParts: 3, PartNumberMarker: first.NextPartNumberMarker! });
    expect(second).toMatchObject({ IsTruncated: false, PartNumberMarker: '2' });
    expect(numbers(second)).toEqual([5, 7, 9_999]);
    expect(numbers(await list(upload, { PartNumberMarker: '6' }))).toEqual([7, 9_999]);
    expect(await list(upload, { MaxParts: 5000 })).toMatchObject({ MaxParts: 1000 });
    expect(await list(upload, { MaxParts: 0 })).toMatchObject({ MaxParts: 0, IsTruncated: false });
  });

  it('shows the checksums', async () => {
    const upload = await TestUpload.begin(service.client, await service.bucket(), 'key', { ChecksumAlgorithm: 'SHA1' });
    await upload.part(1, 'x', { ChecksumAlgorithm: 'SHA1' });
    const page = await list(upload);
    expect(page).toMatchObject({ ChecksumAlgorithm: 'SHA1', ChecksumType: 'COMPOSITE' });
    expect(page.Parts![0]!.ChecksumSHA1).toBe(createHash('sha1').update('x').digest('base64'));
  });

  it('refuses numbers that are none', async () => {
    const upload = await TestUpload.begin(service.client, await service.bucket());
    const refusal = s3Error('InvalidArgument', 400);
    await expect(list(upload, { MaxParts: -1 })).rejects.toEqual(refusal);
    await expect(list(upload, { PartNumberMarker: 'one' })).rejects.toEqual(refusal);
  });

  it('answers 404 for an upload that is not this one, and 403 to strangers', async () => {
    const upload = await TestUpload.begin(service.client, await service.bucket());
    const noSuchUpload = s3Error('NoSuchUpload', 404);
    await expect(list(upload, { UploadId: 'unknown' })).rejects.toEqual(noSuchUpload);
    await expect(list(upload, { Key: 'other' })).rejects.toEqual(noSuchUpload);
    await expect(list(upload, { Bucket: service.freeName() })).rejects.toEqual(s3Error('NoSuchBucket', 404));
    const strange = service.stranger.send(new ListPartsCommand(upload.target));
    await expect(strange).rejects.toEqual(s3Error('AccessDenied', 403));
  });
});
