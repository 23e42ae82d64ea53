import { GetObjectCommand, HeadObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { bodilessError, s3Error } from '../support/clients/expect-error.ts';
import { md5Tag, put, read, setVersioning, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html */
describe('PutObject', () => {
  it('stores bytes under a key, and answers their MD5 and the null version', async () => {
    const bucket = await service.bucket();
    const { ETag, VersionId } = await put(service.client, bucket, 'folder/key', 'content');
    expect(ETag).toBe(md5Tag('content'));
    expect(VersionId).toBe('null');
    expect(await read(service.client, bucket, 'folder/key')).toBe('content');
  });

  it('stores nothing at all as well', async () => {
    const bucket = await service.bucket();
    expect((await put(service.client, bucket, 'empty', '')).ETag).toBe(md5Tag(''));
    const head = await service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'empty' }));
    expect(head.ContentLength).toBe(0);
    expect(await read(service.client, bucket, 'empty')).toBe('');
  });

  it('stores a stream of unknown length byte for byte', async () => {
    const bucket = await service.bucket();
    const bytes = Buffer.alloc(9 * 1024 * 1024 + 17, 'some text that is repeated');
    const { ETag } = await service.client.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key: 'stream',
        Body: Readable.from(pieces(bytes, 60_001)),
        ContentLength: bytes.length,
      }),
    );
    expect(ETag).toBe(md5Tag(bytes));
    const { Body, ContentLength, ContentEncoding } = await service.client.send(
      new GetObjectCommand({ Bucket: bucket, Key: 'stream' }),
    );
    expect(ContentLength).toBe(bytes.length);
    expect(ContentEncoding).toBeUndefined();
    expect(Buffer.from(await Body!.transformToByteArray()).equals(bytes)).toBe(true);
  });

  it('replaces what was there, with everything that belonged to it', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'old', {
      Metadata: { old: '1' },
      CacheControl: 'no-cache',
      Tagging: 'a=b',
    });
    await put(service.client, bucket, 'key', 'new');
    const { Body, Metadata, CacheControl, TagCount } = await service.client.send(
      new GetObjectCommand({ Bucket: bucket, Key: 'key' }),
    );
    expect(await Body!.transformToString()).toBe('new');
    expect({ Metadata, CacheControl, TagCount }).toEqual({
      Metadata: {},
      CacheControl: undefined,
      TagCount: undefined,
    });
    expect((await service.client.send(new ListObjectsV2Command({ Bucket: bucket }))).KeyCount).toBe(1);
  });

  it('keeps the content headers as they were sent', async () => {
    const bucket = await service.bucket();
    const headers = {
      ContentType: 'text/plain; charset=latin1',
      ContentEncoding: 'gzip, br',
      ContentDisposition: 'attachment; filename="a b.txt"',
      ContentLanguage: 'de, en',
      CacheControl: 'public, max-age=60',
      WebsiteRedirectLocation: '/elsewhere',
    };
    await put(service.client, bucket, 'key', 'x', { ...headers, Expires: new Date('2030-01-02T03:04:05Z') });
    const { ContentEncoding, ExpiresString, ...head } = await service.client.send(
      new HeadObjectCommand({ Bucket: bucket, Key: 'key' }),
    );
    const { ContentEncoding: _, ...others } = headers;
    expect(head).toMatchObject(others);
    expect(ContentEncoding?.replaceAll(' ', '')).toBe('gzip,br');
    expect(ExpiresString).toBe('Wed, 02 Jan 2030 03:04:05 GMT');
  });

  it('calls bytes without a type binary/octet-stream', async () => {
    const bucket = await service.bucket();
    const response = await service.send({ method: 'PUT', path: `/${bucket}/untyped`, body: 'x' });
    expect(response.status).toBe(200);
    const { ContentType } = await service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'untyped' }));
    expect(ContentType).toBe('binary/octet-stream');
  });

  it('keeps user metadata; names come back in lower case', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'x', { Metadata: { Colour: 'red and blue', number: '1', empty: '' } });
    const { Metadata } = await service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'key' }));
    expect(Metadata).toEqual({ colour: 'red and blue', number: '1', empty: '' });
  });

  it('takes tags', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'x', { Tagging: 'one=1&two=a%20b' });
    const { TagCount } = await service.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'key' }));
    expect(TagCount).toBe(2);
  });

  it('takes a key that ends in a slash, with a body or without', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'folder/', '');
    await put(service.client, bucket, 'other/', 'content');
    expect(await read(service.client, bucket, 'folder/')).toBe('');
    expect(await read(service.client, bucket, 'other/')).toBe('content');
    await expect(read(service.client, bucket, 'folder')).rejects.toEqual(s3Error('NoSuchKey', 404));
  });

  it('adds a version while versioning is enabled', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const first = await put(service.client, bucket, 'key', 'first');
    const second = await put(service.client, bucket, 'key', 'second');
    expect(first.VersionId).toMatch(/^[A-Za-z0-9._-]{32}$/);
    expect(second.VersionId).not.toBe(first.VersionId);
    expect(await read(service.client, bucket, 'key')).toBe('second');
    expect(await read(service.client, bucket, 'key', first.VersionId)).toBe('first');
  });

  it('replaces the null version while versioning is suspended, and keeps the others', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'before versioning');
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'key', 'with an id');
    await setVersioning(service.client, bucket, 'Suspended');
    expect((await put(service.client, bucket, 'key', 'suspended')).VersionId).toBe('null');
    expect(await versionsOf(service.client, bucket)).toEqual([
      { key: 'key', id: 'null', isLatest: true, isMarker: false },
      { key: 'key', id: VersionId, isLatest: false, isMarker: false },
    ]);
    expect(await read(service.client, bucket, 'key', 'null')).toBe('suspended');
  });

  it('returns the checksum that the client sent, as one of the whole object', async () => {
    const bucket = await service.bucket();
    const digest = createHash('sha256').update('content').digest('base64');
    const written = await put(service.client, bucket, 'key', 'content', { ChecksumSHA256: digest });
    expect(written).toMatchObject({ ChecksumSHA256: digest, ChecksumType: 'FULL_OBJECT' });
    const wrong = put(service.client, bucket, 'wrong', 'other content', { ChecksumSHA256: digest });
    await expect(wrong).rejects.toEqual(s3Error('BadDigest', 400));
    await expect(service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'wrong' }))).rejects.toEqual(
      bodilessError(404),
    );
  });

  it('writes only if the condition holds', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'first', { IfNoneMatch: '*' });
    const again = put(service.client, bucket, 'key', 'second', { IfNoneMatch: '*' });
    await expect(again).rejects.toEqual(s3Error('PreconditionFailed', 412));
    await put(service.client, bucket, 'key', 'second', { IfMatch: md5Tag('first') });
    const stale = put(service.client, bucket, 'key', 'third', { IfMatch: md5Tag('first') });
    await expect(stale).rejects.toEqual(s3Error('PreconditionFailed', 412));
    expect(await read(service.client, bucket, 'key')).toBe('second');
  });

  it('answers 404 for no bucket and 403 to strangers', async () => {
    await expect(put(service.client, service.freeName(), 'key')).rejects.toEqual(s3Error('NoSuchBucket', 404));
    const bucket = await service.bucket();
    await expect(put(service.stranger, bucket, 'key')).rejects.toEqual(s3Error('AccessDenied', 403));
  });

  it('is denied if the bucket is not of the owner that the client expects', async () => {
    const bucket = await service.bucket();
    const { Contents } = await service.client.send(
      new ListObjectsV2Command({ Bucket: await oneObject(), FetchOwner: true }),
    );
    const owner = Contents![0]!.Owner!.ID!;
    await put(service.client, bucket, 'key', '', { ExpectedBucketOwner: owner });
    const other = put(service.client, bucket, 'other', '', { ExpectedBucketOwner: 'somebody-else' });
    await expect(other).rejects.toEqual(s3Error('AccessDenied', 403));
  });

  it.each(['GLACIER', 'DEEP_ARCHIVE', 'nonsense'])('has no storage class %s', async (StorageClass) => {
    const bucket = await service.bucket();
    const request = put(service.client, bucket, 'key', '', { StorageClass: StorageClass as 'GLACIER' });
    await expect(request).rejects.toEqual(s3Error('InvalidStorageClass', 400));
    const standard = await put(service.client, bucket, 'key', '', { StorageClass: 'STANDARD' });
    expect(standard.$metadata.httpStatusCode).toBe(200);
    const head = await service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'key' }));
    expect(head.StorageClass).toBeUndefined();
  });

  it.each(['elsewhere', 'ftp://example.com/', `/${'x'.repeat(2048)}`])(
    'refuses a redirect to what is no location',
    async (location) => {
      const bucket = await service.bucket();
      const request = put(service.client, bucket, 'key', '', { WebsiteRedirectLocation: location });
      await expect(request).rejects.toEqual(s3Error('InvalidRedirectLocation', 400));
    },
  );

  it.each([
    ['eleven tags', Array.from({ length: 11 }, (_, n) => `k${n}=v`).join('&')],
    ['a key twice', 'a=1&a=2'],
    ['a long key', `${'k'.repeat(129)}=v`],
    ['a long value', `k=${'v'.repeat(257)}`],
    ['a character that tags cannot have', 'k=%3Cv%3E'],
    ['a reserved name', 'aws:k=v'],
    ['an empty key', '=v'],
  ])('refuses %s', async (_, Tagging) => {
    const bucket = await service.bucket();
    await expect(put(service.client, bucket, 'key', '', { Tagging })).rejects.toEqual(s3Error('InvalidTag', 400));
  });

  it('takes the ETag of the bytes in advance and refuses others', async () => {
    const bucket = await service.bucket();
    const upload = (body: string) =>
      service.send({ method: 'PUT', path: `/${bucket}/key`, headers: { etag: md5Tag('content') }, body });
    expect((await upload('content')).status).toBe(200);
    const wrong = await upload('other content');
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain('<Code>UnprocessableEntity</Code>');
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });

  async function oneObject(): Promise<string> {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key');
    return bucket;
  }
});

function* pieces(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
