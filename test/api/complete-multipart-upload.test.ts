import {
  CompleteMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type GetObjectCommandInput,
} from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { bodilessError, s3Error } from '../support/clients/expect-error.ts';
import { md5Tag, put, read, setVersioning, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { multipartTag, partOf, TestUpload } from '../support/storage/uploads.ts';

const service = serviceUnderTest();

const base64 = (algorithm: string, bytes: string | Uint8Array) => createHash(algorithm).update(bytes).digest('base64');

async function bytesOf(bucket: string, more: Partial<GetObjectCommandInput> = {}): Promise<Buffer> {
  const { Body } = await service.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'key', ...more }));
  return Buffer.from(await Body!.transformToByteArray());
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html */
describe('CompleteMultipartUpload', () => {
  it('makes one object of the parts, in the order of their numbers', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    const bodies = [partOf('first'), partOf('second', 1), Buffer.from('third')];
    const third = await upload.part(30, bodies[2]!);
    const first = await upload.part(1, bodies[0]!);
    const second = await upload.part(20, bodies[1]!);
    const completed = await upload.complete([first, second, third]);
    expect(completed).toMatchObject({ Bucket: bucket, Key: 'key', ETag: multipartTag(bodies), VersionId: 'null' });
    expect(completed.Location).toBe(`${service.ownUrl}/${bucket}/key`);
    const head = await service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'key' }));
    expect(head).toMatchObject({ ContentLength: bodies.reduce((sum, { length }) => sum + length, 0) });
    expect(head.ETag).toBe(completed.ETag);
    expect((await bytesOf(bucket)).equals(Buffer.concat(bodies))).toBe(true);
  });

  it('makes an object whose ranges and parts can be read, parts by the numbers they were uploaded as', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    const bodies = [partOf('a'), partOf('b'), Buffer.from('c')];
    const parts = [];
    for (const [at, body] of bodies.entries()) parts.push(await upload.part(at * 2 + 1, body));
    await upload.complete(parts);
    const whole = Buffer.concat(bodies);
    const at = bodies[0]!.length;
    for (const [first, last] of [
      [0, 0],
      [at - 2, at + 1],
      [at - 1, at - 1],
      [at, at],
      [at - 1, 2 * at],
    ] as const) {
      const range = await bytesOf(bucket, { Range: `bytes=${first}-${last}` });
      expect(range.equals(whole.subarray(first, last + 1))).toBe(true);
    }
    for (const [n, body] of bodies.entries()) {
      const PartNumber = n * 2 + 1;
      const { Body, ...part } = await service.client.send(
        new GetObjectCommand({ Bucket: bucket, Key: 'key', PartNumber }),
      );
      expect(part).toMatchObject({ PartsCount: 3, ContentLength: body.length, ETag: multipartTag(bodies) });
      expect(Buffer.from(await Body!.transformToByteArray()).equals(body)).toBe(true);
      const { ContentLength } = await service.client.send(
        new HeadObjectCommand({ Bucket: bucket, Key: 'key', PartNumber }),
      );
      expect(ContentLength).toBe(body.length);
    }
    for (const PartNumber of [2, 4, 6]) {
      await expect(bytesOf(bucket, { PartNumber })).rejects.toEqual(s3Error('InvalidPart', 400));
    }
  });

  it('leaves out parts that it is not told of, and takes tags without quotes', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    await upload.part(1, 'left out');
    const { ETag } = await upload.part(2, 'taken');
    await upload.part(3, 'left out');
    await upload.complete([{ PartNumber: 2, ETag: ETag!.replaceAll('"', '') }]);
    expect(await read(service.client, bucket, 'key')).toBe('taken');
  });

  it('ends the upload', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    await upload.complete([await upload.part(1, 'x')]);
    const { Uploads } = await service.client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
    expect(Uploads).toBeUndefined();
  });

  it('answers the same when it is repeated, whatever has happened since', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const upload = await TestUpload.begin(service.client, bucket);
    const parts = [await upload.part(1, 'x')];
    const { $metadata: _, ...first } = await upload.complete(parts);
    const { $metadata: _again, ...again } = await upload.complete(parts);
    expect(again).toEqual(first);
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }));
    expect(await upload.complete(parts)).toMatchObject(first);
    expect(await versionsOf(service.client, bucket)).toHaveLength(2);
  });

  it('replaces what is there, or adds a version', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'before');
    const upload = await TestUpload.begin(service.client, bucket);
    await upload.complete([await upload.part(1, 'after')]);
    expect(await read(service.client, bucket, 'key')).toBe('after');
    expect(await versionsOf(service.client, bucket)).toHaveLength(1);

    await setVersioning(service.client, bucket, 'Enabled');
    const another = await TestUpload.begin(service.client, bucket);
    const { VersionId } = await another.complete([await another.part(1, 'versioned')]);
    expect(VersionId).not.toBe('null');
    expect(await read(service.client, bucket, 'key', VersionId)).toBe('versioned');
    expect(await read(service.client, bucket, 'key', 'null')).toBe('after');
  });

  it('refuses parts out of order, unknown ones, wrong ones and small ones; the upload stays open', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    const one = await upload.part(1, 'small');
    const two = await upload.part(2, 'last');
    await expect(upload.complete([two, one])).rejects.toEqual(s3Error('InvalidPartOrder', 400));
    await expect(upload.complete([one, one])).rejects.toEqual(s3Error('InvalidPartOrder', 400));
    await expect(upload.complete([{ ...one, PartNumber: 3 }])).rejects.toEqual(s3Error('InvalidPart', 400));
    await expect(upload.complete([{ ...one, ETag: md5Tag('other') }])).rejects.toEqual(s3Error('InvalidPart', 400));
    await expect(upload.complete([one, two])).rejects.toEqual(s3Error('EntityTooSmall', 400));
    await expect(upload.complete([])).rejects.toEqual(s3Error('MalformedXML', 400));
    const head = service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'key' }));
    await expect(head).rejects.toEqual(bodilessError(404));
    await upload.complete([two]);
    expect(await read(service.client, bucket, 'key')).toBe('last');
  });

  it('makes an object only of the size that the client says', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    const parts = [await upload.part(1, 'content')];
    const wrong = upload.complete(parts, { MpuObjectSize: 8 });
    await expect(wrong).rejects.toEqual(s3Error('InvalidRequest', 400));
    await upload.complete(parts, { MpuObjectSize: 7 });
  });

  it('judges If-Match and If-None-Match at the end', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    const parts = [await upload.part(1, 'new')];
    const missing = upload.complete(parts, { IfMatch: '*' });
    await expect(missing).rejects.toEqual(s3Error('NoSuchKey', 404));
    await put(service.client, bucket, 'key', 'there');
    const exists = upload.complete(parts, { IfNoneMatch: '*' });
    await expect(exists).rejects.toEqual(s3Error('PreconditionFailed', 412));
    const stale = upload.complete(parts, { IfMatch: md5Tag('stale') });
    await expect(stale).rejects.toEqual(s3Error('PreconditionFailed', 412));
    await upload.complete(parts, { IfMatch: md5Tag('there') });
    expect(await read(service.client, bucket, 'key')).toBe('new');
  });

  it('answers 404 for an upload that is not this one', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    const parts = [await upload.part(1, 'x')];
    const noSuchUpload = s3Error('NoSuchUpload', 404);
    await expect(upload.complete(parts, { UploadId: 'unknown' })).rejects.toEqual(noSuchUpload);
    await expect(upload.complete(parts, { Key: 'other' })).rejects.toEqual(noSuchUpload);
    await expect(upload.complete(parts, { Bucket: await service.bucket() })).rejects.toEqual(noSuchUpload);
    const noBucket = upload.complete(parts, { Bucket: service.freeName() });
    await expect(noBucket).rejects.toEqual(s3Error('NoSuchBucket', 404));
    const strange = new CompleteMultipartUploadCommand({ ...upload.target, MultipartUpload: { Parts: parts } });
    await expect(service.stranger.send(strange)).rejects.toEqual(s3Error('AccessDenied', 403));
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html */
describe('the checksum of an object in parts', () => {
  it('is of the checksums of its parts, if it is composite', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket, 'key', { ChecksumAlgorithm: 'SHA256' });
    const bodies = [partOf('a'), Buffer.from('b')];
    const sums = bodies.map((body) => createHash('sha256').update(body).digest());
    const parts = [];
    for (const [at, body] of bodies.entries()) {
      const ChecksumSHA256 = sums[at]!.toString('base64');
      parts.push({ ...(await upload.part(at + 1, body, { ChecksumSHA256 })), ChecksumSHA256 });
    }
    const composite = base64('sha256', Buffer.concat(sums));
    const completed = await upload.complete(parts);
    expect(completed).toMatchObject({ ChecksumSHA256: `${composite}-2`, ChecksumType: 'COMPOSITE' });
    const head = await service.client.send(
      new HeadObjectCommand({ Bucket: bucket, Key: 'key', ChecksumMode: 'ENABLED' }),
    );
    expect(head).toMatchObject({ ChecksumSHA256: `${composite}-2`, ChecksumType: 'COMPOSITE' });
    const part = await service.client.send(
      new HeadObjectCommand({ Bucket: bucket, Key: 'key', ChecksumMode: 'ENABLED', PartNumber: 2 }),
    );
    expect(part.ChecksumSHA256).toBe(sums[1]!.toString('base64'));
  });

  it.each(['CRC32', 'CRC32C', 'CRC64NVME'] as const)(
    'is of all its bytes, if it is a %s of the full object',
    async (ChecksumAlgorithm) => {
      const bucket = await service.bucket();
      const asked = { ChecksumAlgorithm, ChecksumType: 'FULL_OBJECT' } as const;
      const upload = await TestUpload.begin(service.client, bucket, 'key', asked);
      const bodies = [partOf('a'), partOf('b', 3), Buffer.from('c')];
      const parts = [];
      for (const [at, body] of bodies.entries()) parts.push(await upload.part(at + 1, body, { ChecksumAlgorithm }));
      const completed = await upload.complete(parts);
      const field = `Checksum${ChecksumAlgorithm}` as const;
      await put(service.client, bucket, 'at once', Buffer.concat(bodies), { ChecksumAlgorithm });
      const atOnce = await service.client.send(
        new HeadObjectCommand({ Bucket: bucket, Key: 'at once', ChecksumMode: 'ENABLED' }),
      );
      expect(atOnce[field]).toMatch(/=$/);
      expect(completed).toMatchObject({ [field]: atOnce[field], ChecksumType: 'FULL_OBJECT' });
    },
  );

  it('may be said with the number of its parts, which must be right then', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket, 'key', { ChecksumAlgorithm: 'SHA256' });
    const parts = [await upload.part(1, 'content', { ChecksumAlgorithm: 'SHA256' })];
    const ofPart = createHash('sha256').update('content').digest();
    const ofParts = createHash('sha256').update(ofPart).digest('base64');
    await expect(upload.complete(parts, { ChecksumSHA256: `${ofParts}-2` })).rejects.toEqual(s3Error('BadDigest', 400));
    expect(await upload.complete(parts, { ChecksumSHA256: `${ofParts}-1` })).toMatchObject({
      ChecksumSHA256: `${ofParts}-1`,
    });
  });

  it('may be said when completing, and must be right then', async () => {
    const bucket = await service.bucket();
    const asked = { ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' } as const;
    const upload = await TestUpload.begin(service.client, bucket, 'key', asked);
    const parts = [await upload.part(1, 'content', { ChecksumAlgorithm: 'CRC32' })];
    const { ChecksumCRC32 } = await put(service.client, bucket, 'other', 'content', { ChecksumAlgorithm: 'CRC32' });
    const wrong = upload.complete(parts, { ChecksumCRC32: 'AAAAAA==', ChecksumType: 'FULL_OBJECT' });
    await expect(wrong).rejects.toEqual(s3Error('BadDigest', 400));
    const right = await upload.complete(parts, { ChecksumCRC32: ChecksumCRC32!, ChecksumType: 'FULL_OBJECT' });
    expect(right.ChecksumCRC32).toBe(ChecksumCRC32);
  });

  it('must be said of each part when completing, and be right', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket, 'key', { ChecksumAlgorithm: 'SHA1' });
    const sums = [base64('sha1', 'x'), base64('sha1', 'y')];
    const part = await upload.part(1, 'x', { ChecksumAlgorithm: 'SHA1' });
    const wrong = upload.complete([{ ...part, ChecksumSHA1: sums[1]! }]);
    await expect(wrong).rejects.toEqual(s3Error('InvalidPart', 400));
    const without = upload.complete([{ PartNumber: 1, ETag: part.ETag }]);
    await expect(without).rejects.toEqual(s3Error('InvalidRequest', 400));
    const whole = base64('sha1', Buffer.from(sums[0]!, 'base64'));
    expect((await upload.complete([part])).ChecksumSHA1).toBe(`${whole}-1`);
  });
});
