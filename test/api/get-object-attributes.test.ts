import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectAttributesCommand,
  type GetObjectAttributesCommandInput,
  type GetObjectAttributesCommandOutput,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { checksumOf } from '../support/bytes/checksums.ts';
import { expectError, s3Error } from '../support/clients/expect-error.ts';
import { md5Tag, put, setVersioning } from '../support/storage/objects.ts';
import { serviceUnderTest, takesSettings } from '../support/programs/service-under-test.ts';
import { multipartTag, partOf, TestUpload } from '../support/storage/uploads.ts';

const service = serviceUnderTest();

const all = ['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize'] as const;

function attributes(
  bucket: string,
  more: Partial<GetObjectAttributesCommandInput> = {},
): Promise<GetObjectAttributesCommandOutput> {
  const request = { Bucket: bucket, Key: 'key', ObjectAttributes: [...all], ...more };
  return service.client.send(new GetObjectAttributesCommand(request));
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectAttributes.html */
describe('GetObjectAttributes', () => {
  it('tells all of an object that was uploaded at once; it has no parts', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { ChecksumAlgorithm: 'SHA256' });
    const response = await service.send({
      path: `/${bucket}/key`,
      query: 'attributes',
      headers: { 'x-amz-object-attributes': all.join() },
    });
    expect(response.status).toBe(200);
    const shown = await service.send({ method: 'HEAD', path: `/${bucket}/key` });
    expect(response.header('last-modified')).toBe(shown.header('last-modified'));
    expect(response.header('x-amz-version-id')).toBe('null');
    expect(response.text).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<GetObjectAttributesResponse xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
        `<ETag>${md5Tag('content').replaceAll('"', '')}</ETag>` +
        `<Checksum><ChecksumSHA256>${checksumOf('SHA256', 'content')}</ChecksumSHA256>` +
        '<ChecksumType>FULL_OBJECT</ChecksumType></Checksum>' +
        '<StorageClass>STANDARD</StorageClass><ObjectSize>7</ObjectSize></GetObjectAttributesResponse>',
    );
  });

  it.each(all)('tells what is asked for alone: %s', async (name) => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket, 'key', { ChecksumAlgorithm: 'CRC32' });
    await upload.complete([await upload.part(1, 'content', { ChecksumAlgorithm: 'CRC32' })]);
    const response = await attributes(bucket, { ObjectAttributes: [name] });
    expect(all.filter((one) => response[one] !== undefined)).toEqual([name]);
  });

  it('takes several headers, and space between the names', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', '');
    const headers = { 'x-amz-object-attributes': ' ObjectSize , ETag ' };
    const response = await service.send({ path: `/${bucket}/key`, query: 'attributes', headers });
    expect(response.text).toContain(`<ETag>${md5Tag('').replaceAll('"', '')}</ETag><ObjectSize>0</ObjectSize>`);
  });

  it.each([null, '', ' '])('must be asked for something: %j', async (value) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const headers = value === null ? {} : { 'x-amz-object-attributes': value };
    const response = await service.send({ path: `/${bucket}/key`, query: 'attributes', headers });
    expectError(response, 400, 'InvalidRequest');
  });

  it.each(['Other', 'etag', 'ETag,', 'ETag,Other', 'ETag ObjectSize', ','])('knows no %j', async (value) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const headers = { 'x-amz-object-attributes': value };
    const response = await service.send({ path: `/${bucket}/key`, query: 'attributes', headers });
    expectError(response, 400, 'InvalidArgument');
  });

  it('answers 404 for no object and no bucket, and 403 to strangers', async () => {
    const bucket = await service.bucket();
    await expect(attributes(bucket)).rejects.toEqual(s3Error('NoSuchKey', 404));
    await expect(attributes(service.freeName())).rejects.toEqual(s3Error('NoSuchBucket', 404));
    await put(service.client, bucket, 'key', 'content');
    const headers = { 'x-amz-object-attributes': 'ETag' };
    for (const query of ['attributes', 'attributes&versionId=null']) {
      const request = { path: `/${bucket}/key`, query, headers };
      expectError(await service.send(request, { key: service.bob }), 403, 'AccessDenied');
      expectError(await service.sendUnsigned(request), 403, 'AccessDenied');
    }
  });

  it('tells of a version, and what a delete marker is', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'key', 'content');
    await put(service.client, bucket, 'key', 'longer content');
    expect((await attributes(bucket)).ObjectSize).toBe(14);
    const old = await attributes(bucket, { VersionId });
    expect([old.ObjectSize, old.VersionId]).toEqual([7, VersionId]);
    const marker = await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }));
    const headers = { 'x-amz-object-attributes': 'ETag' };
    const current = await service.send({ path: `/${bucket}/key`, query: 'attributes', headers });
    expectError(current, 404, 'NoSuchKey');
    const byId = await service.send({
      path: `/${bucket}/key`,
      query: `attributes&versionId=${marker.VersionId}`,
      headers,
    });
    expectError(byId, 405, 'MethodNotAllowed');
    for (const response of [current, byId]) {
      expect(response.header('x-amz-delete-marker')).toBe('true');
      expect(response.header('x-amz-version-id')).toBe(marker.VersionId);
    }
    await expect(attributes(bucket, { VersionId: 'x' })).rejects.toEqual(s3Error('InvalidArgument', 400));
    await expect(attributes(bucket, { VersionId: 'x'.repeat(32) })).rejects.toEqual(s3Error('NoSuchKey', 404));
  });
});

describe('the parts of an object', () => {
  it('are told with their checksums; the composite one has no number behind it', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket, 'key', { ChecksumAlgorithm: 'SHA1' });
    const bodies = [partOf('a', 3), Buffer.from('b')];
    const parts = [];
    for (const [at, body] of bodies.entries()) {
      parts.push(await upload.part(at + 1, body, { ChecksumAlgorithm: 'SHA1' }));
    }
    await upload.complete(parts);
    const digests = bodies.map((body) => checksumOf('SHA1', body));
    const combined = checksumOf('SHA1', Buffer.concat(digests.map((digest) => Buffer.from(digest, 'base64'))));
    const expected = {
      ETag: multipartTag(bodies).replaceAll('"', ''),
      ObjectSize: bodies[0]!.length + 1,
      Checksum: { ChecksumSHA1: combined, ChecksumType: 'COMPOSITE' },
      ObjectParts: {
        TotalPartsCount: 2,
        PartNumberMarker: '0',
        NextPartNumberMarker: '2',
        MaxParts: 1000,
        IsTruncated: false,
        Parts: bodies.map((body, at) => ({ PartNumber: at + 1, Size: body.length, ChecksumSHA1: digests[at] })),
      },
    };
    expect(await attributes(bucket)).toMatchObject(expected);
    await service.client.send(new CopyObjectCommand({ Bucket: bucket, Key: 'copy', CopySource: `${bucket}/key` }));
    expect(await attributes(bucket, { Key: 'copy' })).toMatchObject(expected);
  });

  it('must be asked for by numbers', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    for (const name of ['x-amz-max-parts', 'x-amz-part-number-marker']) {
      for (const value of ['-1', 'x', '', '1.5', '9'.repeat(10)]) {
        const headers = { 'x-amz-object-attributes': 'ObjectParts', [name]: value };
        const response = await service.send({ path: `/${bucket}/key`, query: 'attributes', headers });
        expectError(response, 400, 'InvalidArgument');
      }
    }
  });
});

/** Small parts, so that there can be many. */
describe.runIf(takesSettings)('pages of parts', () => {
  const small = serviceUnderTest({ args: ['--limit', 'minimumPartBytes=1', '--limit', 'keysPerPage=5'] });

  it('hold as many as are asked for, and no more than there may be', async () => {
    const bucket = await small.bucket();
    const upload = await TestUpload.begin(small.client, bucket);
    const parts = [];
    for (let number = 1; number <= 7; number++) parts.push(await upload.part(number * 10, 'x'.repeat(number)));
    await upload.complete(parts);
    const page = async (MaxParts?: number, marker?: string) => {
      const request = { Bucket: bucket, Key: 'key', ObjectAttributes: ['ObjectParts'] as const, MaxParts };
      const { ObjectParts } = await small.client.send(
        new GetObjectAttributesCommand({
          ...request,
          ObjectAttributes: ['ObjectParts'],
          PartNumberMarker: marker,
        }),
      );
      const { Parts = [], TotalPartsCount, ...rest } = ObjectParts!;
      expect(TotalPartsCount).toBe(7);
      for (const { PartNumber, Size } of Parts) expect(Size! * 10).toBe(PartNumber);
      const { IsTruncated, NextPartNumberMarker, PartNumberMarker, MaxParts: most } = rest;
      return [Parts.map(({ PartNumber }) => PartNumber), IsTruncated, PartNumberMarker, NextPartNumberMarker, most];
    };
    expect(await page()).toEqual([[10, 20, 30, 40, 50], true, '0', '50', 5]);
    expect(await page(1000)).toEqual([[10, 20, 30, 40, 50], true, '0', '50', 5]);
    expect(await page(undefined, '50')).toEqual([[60, 70], false, '50', '70', 5]);
    expect(await page(3)).toEqual([[10, 20, 30], true, '0', '30', 3]);
    expect(await page(3, '30')).toEqual([[40, 50, 60], true, '30', '60', 3]);
    expect(await page(3, '59')).toEqual([[60, 70], false, '59', '70', 3]);
    expect(await page(3, '40')).toEqual([[50, 60, 70], false, '40', '70', 3]);
    expect(await page(3, '70')).toEqual([[], false, '70', '70', 3]);
    expect(await page(3, '20000')).toEqual([[], false, '20000', '20000', 3]);
    expect(await page(0)).toEqual([[], false, '0', '0', 0]);
  });
});
