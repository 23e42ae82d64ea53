import {
  DeleteObjectCommand,
  ListPartsCommand,
  UploadPartCopyCommand,
  type UploadPartCopyCommandInput,
  type UploadPartCopyCommandOutput,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { newBlobs } from '../support/disks/blobs-on-disk.ts';
import { checksumOf } from '../support/bytes/checksums.ts';
import { expectError, s3Error, textOf } from '../support/clients/expect-error.ts';
import { md5Tag, put, read, setVersioning } from '../support/storage/objects.ts';
import { serviceUnderTest, takesSettings } from '../support/programs/service-under-test.ts';
import { pathOf, queryOf } from '../support/clients/signer.ts';
import { leastPart, multipartTag, partOf, TestUpload } from '../support/storage/uploads.ts';

const service = serviceUnderTest({ alone: true });

/** Copies from `bucket/source` into part 1 by default. */
function copyPart(
  upload: TestUpload,
  more: Partial<UploadPartCopyCommandInput> = {},
): Promise<UploadPartCopyCommandOutput> {
  const { target } = upload;
  const request = { ...target, PartNumber: 1, CopySource: `${target.Bucket}/source`, ...more };
  return service.client.send(new UploadPartCopyCommand(request));
}

async function partsOf(upload: TestUpload): Promise<[number, string, number][]> {
  const { Parts = [] } = await service.client.send(new ListPartsCommand(upload.target));
  return Parts.map(({ PartNumber, ETag, Size }) => [PartNumber!, ETag!, Size!]);
}

/** A bucket with an object `source`, and an upload to copy into. */
async function begun(content: string | Uint8Array = 'content'): Promise<{ bucket: string; upload: TestUpload }> {
  const bucket = await service.bucket();
  await put(service.client, bucket, 'source', content);
  return { bucket, upload: await TestUpload.begin(service.client, bucket) };
}

const preconditionFailed = s3Error('PreconditionFailed', 412);
const noSuchUpload = s3Error('NoSuchUpload', 404);
const noSuchKey = s3Error('NoSuchKey', 404);

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPartCopy.html */
describe('UploadPartCopy', () => {
  it('makes a part of an object', async () => {
    const { bucket, upload } = await begun();
    const { CopyPartResult, CopySourceVersionId } = await copyPart(upload);
    expect(CopyPartResult!.ETag).toBe(md5Tag('content'));
    expect(Math.abs(CopyPartResult!.LastModified!.getTime() - Date.now())).toBeLessThan(60_000);
    expect(CopySourceVersionId).toBeUndefined();
    expect(await partsOf(upload)).toEqual([[1, md5Tag('content'), 7]]);
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'source' }));
    const { ETag } = await upload.complete([{ PartNumber: 1, ETag: CopyPartResult!.ETag }]);
    expect(ETag).toBe(multipartTag(['content']));
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });

  it('puts together what is copied and what is uploaded', async () => {
    const from = await service.bucket();
    const { bucket, upload } = await begun('tail');
    const large = partOf('0123456789', 100);
    await put(service.client, from, 'large', large);
    const CopySource = `/${from}/large`;
    const first = await copyPart(upload, { CopySource, CopySourceRange: `bytes=100-${leastPart + 99}` });
    const second = await upload.part(2, partOf('b'));
    const third = await copyPart(upload, { PartNumber: 3 });
    const bodies = [large.subarray(100), partOf('b'), Buffer.from('tail')];
    const { ETag } = await upload.complete([
      { PartNumber: 1, ETag: first.CopyPartResult!.ETag },
      second,
      { PartNumber: 3, ETag: third.CopyPartResult!.ETag },
    ]);
    expect(ETag).toBe(multipartTag(bodies));
    const whole = await service.send({ path: `/${bucket}/key` });
    expect(whole.body.equals(Buffer.concat(bodies))).toBe(true);
  });

  it('copies out of an object in parts, across where they meet', async () => {
    const bucket = await service.bucket();
    const source = await TestUpload.begin(service.client, bucket, 'source');
    const bodies = [partOf('a'), partOf('b'), Buffer.from('c')];
    const named = [];
    for (const [at, body] of bodies.entries()) named.push(await source.part(at + 1, body));
    await source.complete(named);
    const upload = await TestUpload.begin(service.client, bucket);
    const range = `bytes=${leastPart - 2}-${2 * leastPart}`;
    const part = await copyPart(upload, { CopySourceRange: range });
    const all = Buffer.concat(bodies).subarray(leastPart - 2);
    expect(part.CopyPartResult!.ETag).toBe(md5Tag(all));
    await upload.complete([{ PartNumber: 1, ETag: part.CopyPartResult!.ETag }]);
    expect((await service.send({ path: `/${bucket}/key` })).body.equals(all)).toBe(true);
  });

  it('makes an empty part of an empty object', async () => {
    const { bucket, upload } = await begun('');
    const part = await copyPart(upload);
    expect(part.CopyPartResult!.ETag).toBe(md5Tag(''));
    await upload.complete([{ PartNumber: 1, ETag: part.CopyPartResult!.ETag }]);
    expect(await read(service.client, bucket, 'key')).toBe('');
  });

  it('replaces a part, and may copy the object that is to be replaced', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const upload = await TestUpload.begin(service.client, bucket, 'key');
    await upload.part(1, 'uploaded');
    const { CopyPartResult } = await copyPart(upload, { CopySource: `${bucket}/key` });
    expect(await partsOf(upload)).toEqual([[1, md5Tag('content'), 7]]);
    await upload.complete([{ PartNumber: 1, ETag: CopyPartResult!.ETag }]);
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });

  it('computes the checksum that the upload asks for', async () => {
    const { bucket } = await begun();
    const upload = await TestUpload.begin(service.client, bucket, 'key', { ChecksumAlgorithm: 'SHA256' });
    const { CopyPartResult } = await copyPart(upload);
    expect(CopyPartResult!.ChecksumSHA256).toBe(checksumOf('SHA256', 'content'));
    const { ETag, ChecksumSHA256 } = CopyPartResult!;
    const done = await upload.complete([{ PartNumber: 1, ETag, ChecksumSHA256 }]);
    const combined = checksumOf('SHA256', Buffer.from(checksumOf('SHA256', 'content'), 'base64'));
    expect(done.ChecksumSHA256).toBe(`${combined}-1`);
  });

  it('knows an upload only by its bucket, its key and its id together, and only while it is open', async () => {
    const { upload } = await begun();
    await expect(copyPart(upload, { UploadId: 'unknown' })).rejects.toEqual(noSuchUpload);
    await expect(copyPart(upload, { Key: 'other' })).rejects.toEqual(noSuchUpload);
    const other = await service.bucket();
    await expect(copyPart(upload, { Bucket: other })).rejects.toEqual(noSuchUpload);
    const { CopyPartResult } = await copyPart(upload);
    await upload.complete([{ PartNumber: 1, ETag: CopyPartResult!.ETag }]);
    const blobs = await newBlobs(service);
    await expect(copyPart(upload)).rejects.toEqual(noSuchUpload);
    await blobs.expectCount(0);
  });

  it.each([0, -1, 10_001])('refuses the part number %i', async (PartNumber) => {
    const { upload } = await begun();
    await expect(copyPart(upload, { PartNumber })).rejects.toEqual(s3Error('InvalidArgument', 400));
  });

  it('needs a part number', async () => {
    const { bucket, upload } = await begun();
    const response = await service.send({
      method: 'PUT',
      path: `/${bucket}/key`,
      query: queryOf({ uploadId: upload.id }),
      headers: { 'x-amz-copy-source': `${bucket}/source` },
    });
    expectError(response, 400, 'InvalidArgument');
    expect(await partsOf(upload)).toEqual([]);
  });
});

describe('the source of a part', () => {
  it.each(['', '/', 'bucket', 'bucket/'])('is none: "%s"', async (source) => {
    const { bucket, upload } = await begun();
    const response = await service.send({
      method: 'PUT',
      path: `/${bucket}/key`,
      query: queryOf({ partNumber: '1', uploadId: upload.id }),
      headers: { 'x-amz-copy-source': source.replace('bucket', bucket) },
      body: 'never a part',
    });
    expectError(response, 400, 'InvalidArgument');
    expect(await partsOf(upload)).toEqual([]);
  });

  it.each(['a+b', 'a%2Bb', '/leading', 'a?versionId=x', '日本'])('may be called %j', async (key) => {
    const bucket = await service.bucket();
    const path = pathOf(bucket, key);
    await service.send({ method: 'PUT', path, body: key });
    const upload = await TestUpload.begin(service.client, bucket);
    expect((await copyPart(upload, { CopySource: path })).CopyPartResult!.ETag).toBe(md5Tag(key));
  });

  it('must be there', async () => {
    const { bucket, upload } = await begun();
    await expect(copyPart(upload, { CopySource: `${bucket}/missing` })).rejects.toEqual(noSuchKey);
    const elsewhere = copyPart(upload, { CopySource: `${service.freeName()}/source` });
    await expect(elsewhere).rejects.toEqual(s3Error('NoSuchBucket', 404));
    expect(await partsOf(upload)).toEqual([]);
  });

  it('must be readable: neither those of others nor the uploads of others are', async () => {
    const { bucket, upload } = await begun();
    const others = service.freeName('other');
    await service.send({ method: 'PUT', path: `/${others}` }, { key: service.bob });
    try {
      const theirs = await TestUpload.begin(service.stranger, others, 'key');
      const denied = s3Error('AccessDenied', 403);
      for (const key of ['source', 'missing']) {
        const steal = { ...theirs.target, PartNumber: 1, CopySource: `${bucket}/${key}` };
        await expect(service.stranger.send(new UploadPartCopyCommand(steal))).rejects.toEqual(denied);
      }
      const plant = { ...upload.target, PartNumber: 1, CopySource: `${others}/x` };
      await expect(service.stranger.send(new UploadPartCopyCommand(plant))).rejects.toEqual(denied);
      await expect(copyPart(upload, { UploadId: theirs.id })).rejects.toEqual(noSuchUpload);
    } finally {
      await service.send({ method: 'DELETE', path: `/${others}` }, { key: service.bob });
    }
  });

  it('must be of whom the client expects', async () => {
    const { upload } = await begun();
    const wrong = copyPart(upload, { ExpectedSourceBucketOwner: 'somebody' });
    await expect(wrong).rejects.toEqual(s3Error('AccessDenied', 403));
    const owner = textOf((await service.send({ path: '/' })).text, 'ID')!;
    await copyPart(upload, { ExpectedSourceBucketOwner: owner });
  });

  it('may be a version, and is never a delete marker', async () => {
    const { bucket, upload } = await begun('zero');
    await setVersioning(service.client, bucket, 'Enabled');
    const one = await put(service.client, bucket, 'source', 'one');
    const marker = await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'source' }));
    const of = (id?: string) => ({ CopySource: `${bucket}/source?versionId=${id}` });
    for (const [id, content] of [
      [one.VersionId, 'one'],
      ['null', 'zero'],
    ] as const) {
      const { CopyPartResult, CopySourceVersionId } = await copyPart(upload, of(id));
      expect(CopySourceVersionId).toBe(id);
      expect(CopyPartResult!.ETag).toBe(md5Tag(content));
    }
    await expect(copyPart(upload)).rejects.toEqual(noSuchKey);
    await expect(copyPart(upload, of(marker.VersionId))).rejects.toEqual(s3Error('InvalidRequest', 400));
    await expect(copyPart(upload, of('x'.repeat(32)))).rejects.toEqual(noSuchKey);
    await expect(copyPart(upload, of('x'))).rejects.toEqual(s3Error('InvalidArgument', 400));
  });

  it('must meet the conditions, else 412, never 304', async () => {
    const { upload } = await begun();
    const past = new Date(Date.now() - 86_400_000);
    const future = new Date(Date.now() + 86_400_000);
    for (const conditions of [
      { CopySourceIfMatch: '"other"' },
      { CopySourceIfNoneMatch: md5Tag('content') },
      { CopySourceIfUnmodifiedSince: past },
      { CopySourceIfModifiedSince: future },
    ]) {
      await expect(copyPart(upload, conditions)).rejects.toEqual(preconditionFailed);
    }
    expect(await partsOf(upload)).toEqual([]);
    await copyPart(upload, { CopySourceIfMatch: md5Tag('content'), CopySourceIfUnmodifiedSince: past });
    await copyPart(upload, { CopySourceIfNoneMatch: '"other"', CopySourceIfModifiedSince: future });
  });
});

describe('the range of a part', () => {
  it.each([
    ['bytes=0-6', 'content'],
    ['bytes=0-0', 'c'],
    ['bytes=6-6', 't'],
    ['bytes=1-3', 'ont'],
  ])('%s is %s', async (CopySourceRange, text) => {
    const { upload } = await begun();
    expect((await copyPart(upload, { CopySourceRange })).CopyPartResult!.ETag).toBe(md5Tag(text));
    expect(await partsOf(upload)).toEqual([[1, md5Tag(text), text.length]]);
  });

  it.each(['bytes=0-', 'bytes=-1', 'bytes=2-1', '0-1', 'bytes=0-1,3-4', 'bytes=a-b', 'bytes 0-1', ''])(
    'must have both ends: "%s"',
    async (range) => {
      const { bucket, upload } = await begun();
      const response = await service.send({
        method: 'PUT',
        path: `/${bucket}/key`,
        query: queryOf({ partNumber: '1', uploadId: upload.id }),
        headers: { 'x-amz-copy-source': `${bucket}/source`, 'x-amz-copy-source-range': range },
      });
      expectError(response, 400, 'InvalidArgument');
      expect(await partsOf(upload)).toEqual([]);
    },
  );

  it.each(['bytes=0-7', 'bytes=7-7', 'bytes=100-200'])('must lie within the source: %s', async (CopySourceRange) => {
    const { upload } = await begun();
    await expect(copyPart(upload, { CopySourceRange })).rejects.toEqual(s3Error('InvalidRange', 416));
    const empty = await begun('');
    await expect(copyPart(empty.upload, { CopySourceRange })).rejects.toEqual(s3Error('InvalidRange', 416));
  });
});

describe('a source of parts that changes meanwhile', () => {
  it('is copied whole', async () => {
    const { bucket, upload } = await begun('aaaa');
    const contents = ['aaaa', 'bbbb'];
    const writer = (async () => {
      for (let round = 0; round < 20; round++) await put(service.client, bucket, 'source', contents[round % 2]);
    })();
    const tags = contents.map((content) => md5Tag(content));
    for (let round = 1; round <= 15; round++) {
      const { CopyPartResult } = await copyPart(upload, { PartNumber: round });
      expect(tags).toContain(CopyPartResult!.ETag);
    }
    await writer;
  });
});

describe.runIf(takesSettings)('a source of parts that is too large', () => {
  const small = serviceUnderTest({ args: ['--limit', 'singleUploadBytes=100', '--limit', 'minimumPartBytes=1'] });

  it('is copied in ranges only', async () => {
    const bucket = await small.bucket();
    const source = await TestUpload.begin(small.client, bucket, 'source');
    await source.complete([await source.part(1, 'a'.repeat(100)), await source.part(2, 'b')]);
    const { target } = await TestUpload.begin(small.client, bucket);
    const copying = (CopySourceRange?: string) => {
      const request = { ...target, PartNumber: 1, CopySource: `${bucket}/source`, CopySourceRange };
      return small.client.send(new UploadPartCopyCommand(request));
    };
    await expect(copying()).rejects.toEqual(s3Error('InvalidRequest', 400));
    await expect(copying('bytes=0-100')).rejects.toEqual(s3Error('InvalidRequest', 400));
    expect((await copying('bytes=1-100')).CopyPartResult!.ETag).toBe(md5Tag('a'.repeat(99) + 'b'));
  });
});
