import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  type CopyObjectCommandInput,
  type CopyObjectCommandOutput,
  type HeadObjectCommandOutput,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { newBlobs } from '../support/disks/blobs-on-disk.ts';
import { checksumOf } from '../support/bytes/checksums.ts';
import { expectError, s3Error, textOf } from '../support/clients/expect-error.ts';
import { md5Tag, put, read, setVersioning, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest, takesSettings } from '../support/programs/service-under-test.ts';
import { pathOf, uriEncode } from '../support/clients/signer.ts';
import { multipartTag, partOf, TestUpload } from '../support/storage/uploads.ts';

const service = serviceUnderTest({ alone: true });

function copy(
  bucket: string,
  source: string,
  key: string,
  more: Partial<CopyObjectCommandInput> = {},
): Promise<CopyObjectCommandOutput> {
  const request = { Bucket: bucket, Key: key, CopySource: `${bucket}/${source}`, ...more };
  return service.client.send(new CopyObjectCommand(request));
}

function head(bucket: string, key: string, versionId?: string): Promise<HeadObjectCommandOutput> {
  return service.client.send(
    new HeadObjectCommand({ Bucket: bucket, Key: key, VersionId: versionId, ChecksumMode: 'ENABLED' }),
  );
}

async function tagsOf(bucket: string, key: string): Promise<[string, string][]> {
  const { TagSet } = await service.client.send(new GetObjectTaggingCommand({ Bucket: bucket, Key: key }));
  return TagSet!.map(({ Key, Value }) => [Key!, Value!]);
}

const noSuchKey = s3Error('NoSuchKey', 404);
const invalidRequest = s3Error('InvalidRequest', 400);
const preconditionFailed = s3Error('PreconditionFailed', 412);

/** The attributes of an object besides its bytes. */
const objectAttributes = {
  ContentType: 'text/plain',
  CacheControl: 'no-cache',
  ContentDisposition: 'inline',
  ContentEncoding: 'gzip',
  ContentLanguage: 'de',
  Metadata: { colour: 'red' },
};
const expires = new Date('2030-01-02T03:04:05Z');

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html */
describe('CopyObject', () => {
  it('gives another key the same bytes, and moves none', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    const blobs = await newBlobs(service);
    const { CopyObjectResult, VersionId, CopySourceVersionId } = await copy(bucket, 'source', 'target');
    expect(CopyObjectResult!.ETag).toBe(md5Tag('content'));
    expect({ VersionId, CopySourceVersionId }).toEqual({ VersionId: 'null', CopySourceVersionId: undefined });
    expect(await read(service.client, bucket, 'target')).toBe('content');
    const { LastModified, ETag } = await head(bucket, 'target');
    expect(ETag).toBe(md5Tag('content'));
    expect(Math.floor(CopyObjectResult!.LastModified!.getTime() / 1000) * 1000).toBe(LastModified!.getTime());
    await blobs.expectCount(0);
  });

  it('copies into another bucket of the same project', async () => {
    const [from, to] = [await service.bucket(), await service.bucket()];
    await put(service.client, from, 'source', 'content');
    await copy(to, '', 'target', { CopySource: `/${from}/source` });
    expect(await read(service.client, to, 'target')).toBe('content');
    expect(await versionsOf(service.client, from)).toHaveLength(1);
  });

  it('copies an empty object', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', '');
    await copy(bucket, 'source', 'target');
    const { ContentLength, ETag } = await head(bucket, 'target');
    expect([ContentLength, ETag]).toEqual([0, md5Tag('')]);
    expect(await read(service.client, bucket, 'target')).toBe('');
  });

  it('outlives its source, and its source it', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    await copy(bucket, 'source', 'first');
    await copy(bucket, 'first', 'second');
    await put(service.client, bucket, 'source', 'other');
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'first' }));
    expect(await read(service.client, bucket, 'second')).toBe('content');
    await copy(bucket, 'second', 'first');
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'second' }));
    expect(await read(service.client, bucket, 'first')).toBe('content');
  });

  it('gives the copy its own time', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    const before = (await head(bucket, 'source')).LastModified!.getTime();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await copy(bucket, 'source', 'target');
    expect((await head(bucket, 'target')).LastModified!.getTime()).toBeGreaterThan(before);
    expect((await head(bucket, 'source')).LastModified!.getTime()).toBe(before);
  });

  it('replaces what was there', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    await put(service.client, bucket, 'target', 'old', { Metadata: { old: '1' }, Tagging: 'old=1' });
    await copy(bucket, 'source', 'target');
    expect(await read(service.client, bucket, 'target')).toBe('content');
    expect((await head(bucket, 'target')).Metadata).toEqual({});
    expect(await tagsOf(bucket, 'target')).toEqual([]);
  });

  it('ignores a body, but not a wrong one', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    const request = { method: 'PUT', path: `/${bucket}/target`, headers: { 'x-amz-copy-source': `${bucket}/source` } };
    expect((await service.send({ ...request, body: 'ignored' })).status).toBe(200);
    expect(await read(service.client, bucket, 'target')).toBe('content');
  });

  it('answers 404 for no source, no bucket of it and no bucket for it', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    await expect(copy(bucket, 'other', 'target')).rejects.toEqual(noSuchKey);
    const elsewhere = service.freeName();
    const noBucket = s3Error('NoSuchBucket', 404);
    await expect(copy(bucket, '', 'target', { CopySource: `${elsewhere}/source` })).rejects.toEqual(noBucket);
    await expect(copy(elsewhere, '', 'target', { CopySource: `${bucket}/source` })).rejects.toEqual(noBucket);
    expect((await versionsOf(service.client, bucket)).map(({ key }) => key)).toEqual(['source']);
  });

  it('answers 403 where the source or the target is of others, and does not tell whether it is there', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    const others = service.freeName('other');
    await service.send({ method: 'PUT', path: `/${others}` }, { key: service.bob });
    try {
      for (const source of ['source', 'missing']) {
        const stolen = new CopyObjectCommand({ Bucket: others, Key: 'k', CopySource: `${bucket}/${source}` });
        await expect(service.stranger.send(stolen)).rejects.toEqual(s3Error('AccessDenied', 403));
        const planted = new CopyObjectCommand({ Bucket: bucket, Key: 'k', CopySource: `${others}/${source}` });
        await expect(service.stranger.send(planted)).rejects.toEqual(s3Error('AccessDenied', 403));
      }
      expect(await versionsOf(service.stranger, others)).toEqual([]);
    } finally {
      await service.send({ method: 'DELETE', path: `/${others}` }, { key: service.bob });
    }
  });

  it('answers 403 if the buckets are not of whom the client expects', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    const denied = s3Error('AccessDenied', 403);
    await expect(copy(bucket, 'source', 'k', { ExpectedSourceBucketOwner: 'somebody' })).rejects.toEqual(denied);
    await expect(copy(bucket, 'source', 'k', { ExpectedBucketOwner: 'somebody' })).rejects.toEqual(denied);
    const listing = await service.send({ path: '/' });
    const owner = textOf(listing.text, 'ID')!;
    await copy(bucket, 'source', 'k', { ExpectedSourceBucketOwner: owner, ExpectedBucketOwner: owner });
  });

  it('cannot be added to a presigned upload', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    const request = { method: 'PUT', path: `/${bucket}/key`, headers: { 'x-amz-copy-source': `${bucket}/source` } };
    const response = await service.sendPresigned(request, { unsigned: ['x-amz-copy-source'] });
    expectError(response, 403, 'AccessDenied');
    const inHeader = await service.send(request, { unsigned: ['x-amz-copy-source'] });
    expectError(inHeader, 403, 'AccessDenied');
    expect((await versionsOf(service.client, bucket)).map(({ key }) => key)).toEqual(['source']);
  });
});

describe('the name of a source', () => {
  it.each(['', '/', 'bucket', 'bucket/', '?versionId=null', 'BUCKET/key'])('is none: "%s"', async (source) => {
    const bucket = await service.bucket();
    const headers = { 'x-amz-copy-source': source.replace('bucket', bucket) };
    const response = await service.send({ method: 'PUT', path: `/${bucket}/key`, headers, body: 'x' });
    expectError(response, 400, source.startsWith('BUCKET') ? 'InvalidBucketName' : 'InvalidArgument');
    expect(await versionsOf(service.client, bucket)).toEqual([]);
  });

  it.each([
    'a+b',
    'a b',
    'a%2Bb',
    'a%20b',
    '/leading',
    'two//slashes/',
    'a?versionId=null',
    'a?versionId=x?versionId=y',
    '日本/é/😀',
    '../other/key',
    '.',
    '#?&=;:@,!$\'()*"<>',
    'line\nbreak',
    'folder/',
  ])('may be %j, encoded as a whole or in its pieces', async (key) => {
    const bucket = await service.bucket();
    const path = pathOf(bucket, key);
    expect((await service.send({ method: 'PUT', path, body: key })).status).toBe(200);
    const sources = [path, path.slice(1), uriEncode(`${bucket}/${key}`), uriEncode(`/${bucket}/${key}`)];
    for (const source of [...sources, `${path}?versionId=null`]) {
      const request = { method: 'PUT', path: `/${bucket}/target`, headers: { 'x-amz-copy-source': source } };
      const response = await service.send(request);
      expect(response.status, `${source}: ${response.text}`).toBe(200);
      expect(await read(service.client, bucket, 'target')).toBe(key);
    }
  });

  it.each(['a b', '日本', 'a?b', "a'(b)*!"])('may be sent as it is: %s', async (key) => {
    const bucket = await service.bucket();
    await service.send({ method: 'PUT', path: pathOf(bucket, key), body: key });
    const source = Buffer.from(`${bucket}/${key}`, 'utf8').toString('latin1');
    const response = await service.send({
      method: 'PUT',
      path: `/${bucket}/target`,
      headers: { 'x-amz-copy-source': source },
    });
    // HTTP does not define the meaning of these signed bytes: a service may refuse them, but must not misread them.
    if (response.status === 200) expect(await read(service.client, bucket, 'target')).toBe(key);
    else expect(response.status, response.text).toBe(403);
  });

  it('is confined to its bucket', async () => {
    const [bucket, secret] = [await service.bucket(), await service.bucket()];
    await put(service.client, secret, 'key', 'secret');
    for (const source of [`${bucket}/../${secret}/key`, `${bucket}/%2e%2e/${secret}/key`]) {
      const request = { method: 'PUT', path: `/${bucket}/target`, headers: { 'x-amz-copy-source': source } };
      expectError(await service.send(request), 404, 'NoSuchKey');
    }
  });

  it('is named by the error of what could not find it', async () => {
    const [bucket, target] = [await service.bucket(), await service.bucket()];
    const headers = { 'x-amz-copy-source': `${bucket}/missing` };
    const response = await service.send({ method: 'PUT', path: `/${target}/key`, headers });
    expectError(response, 404, 'NoSuchKey');
    expect([textOf(response.text, 'BucketName'), textOf(response.text, 'Key')]).toEqual([bucket, 'missing']);
  });
});

describe('the version of a source', () => {
  it('is the current one unless another is named', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'zero');
    await setVersioning(service.client, bucket, 'Enabled');
    const one = await put(service.client, bucket, 'source', 'one');
    const two = await put(service.client, bucket, 'source', 'two');
    const current = await copy(bucket, 'source', 'a');
    expect(current.CopySourceVersionId).toBe(two.VersionId);
    expect(await read(service.client, bucket, 'a')).toBe('two');
    const older = await copy(bucket, `source?versionId=${one.VersionId}`, 'b');
    expect(older.CopySourceVersionId).toBe(one.VersionId);
    expect(await read(service.client, bucket, 'b')).toBe('one');
    const nullVersion = await copy(bucket, 'source?versionId=null', 'c');
    expect(nullVersion.CopySourceVersionId).toBe('null');
    expect(await read(service.client, bucket, 'c')).toBe('zero');
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'source', VersionId: one.VersionId }));
    expect(await read(service.client, bucket, 'b')).toBe('one');
  });

  it('is no delete marker', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'source', 'content');
    const marker = await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'source' }));
    await expect(copy(bucket, 'source', 'target')).rejects.toEqual(noSuchKey);
    await expect(copy(bucket, `source?versionId=${marker.VersionId}`, 'target')).rejects.toEqual(invalidRequest);
    await copy(bucket, `source?versionId=${VersionId}`, 'target');
    expect(await read(service.client, bucket, 'target')).toBe('content');
  });

  it('is one that is there', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    await put(service.client, bucket, 'source', 'content');
    const unknown = `source?versionId=${'x'.repeat(32)}`;
    await expect(copy(bucket, unknown, 'target')).rejects.toEqual(noSuchKey);
    for (const malformed of ['source?versionId=', 'source?versionId=x', 'source?versionId=null&a=b']) {
      await expect(copy(bucket, malformed, 'target')).rejects.toEqual(s3Error('InvalidArgument', 400));
    }
  });

  it('is brought back by a copy onto its own key', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const old = await put(service.client, bucket, 'key', 'old', { Metadata: { a: 'b' }, Tagging: 'a=b' });
    await put(service.client, bucket, 'key', 'new');
    const restored = await copy(bucket, `key?versionId=${old.VersionId}`, 'key');
    expect(restored.VersionId).not.toBe(old.VersionId);
    expect(await read(service.client, bucket, 'key')).toBe('old');
    expect((await head(bucket, 'key')).Metadata).toEqual({ a: 'b' });
    expect(await tagsOf(bucket, 'key')).toEqual([['a', 'b']]);
    expect(await versionsOf(service.client, bucket)).toHaveLength(3);
  });
});

describe('a copy into a bucket with versions', () => {
  it('is a new version while versioning is enabled, the null version while it is suspended', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    await setVersioning(service.client, bucket, 'Enabled');
    const old = await put(service.client, bucket, 'target', 'old');
    const first = await copy(bucket, 'source', 'target');
    expect(first.VersionId).toMatch(/^[-\w]{32}$/);
    expect(first.CopySourceVersionId).toBe('null');
    expect(await read(service.client, bucket, 'target', old.VersionId)).toBe('old');
    await setVersioning(service.client, bucket, 'Suspended');
    expect((await copy(bucket, 'source', 'target')).VersionId).toBe('null');
    expect((await copy(bucket, 'source', 'target')).VersionId).toBe('null');
    const versions = (await versionsOf(service.client, bucket)).filter(({ key }) => key === 'target');
    expect(versions.map(({ id }) => id)).toEqual(['null', first.VersionId, old.VersionId]);
    for (const { id } of versions) {
      expect(await read(service.client, bucket, 'target', id)).toBe(id === old.VersionId ? 'old' : 'content');
    }
  });

  it('onto itself with new metadata keeps the old version', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const old = await put(service.client, bucket, 'key', 'content', { Metadata: { a: '1' } });
    const fresh = await copy(bucket, 'key', 'key', { MetadataDirective: 'REPLACE', Metadata: { a: '2' } });
    expect((await head(bucket, 'key', old.VersionId)).Metadata).toEqual({ a: '1' });
    expect((await head(bucket, 'key', fresh.VersionId)).Metadata).toEqual({ a: '2' });
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key', VersionId: old.VersionId }));
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });
});

describe('what a copy takes over', () => {
  it('is everything but the redirect, unless it says otherwise', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content', {
      ...objectAttributes,
      Expires: expires,
      WebsiteRedirectLocation: '/elsewhere',
      Tagging: 'a=1&b=2',
    });
    await copy(bucket, 'source', 'target', {
      ContentType: 'image/png',
      CacheControl: 'public',
      Metadata: { other: '1' },
      Tagging: 'c=3',
    });
    const target = await head(bucket, 'target');
    expect(target).toMatchObject(objectAttributes);
    expect(target.Metadata).toEqual({ colour: 'red' });
    expect(target.ExpiresString).toBe(expires.toUTCString());
    expect(target.WebsiteRedirectLocation).toBeUndefined();
    expect(await tagsOf(bucket, 'target')).toEqual([
      ['a', '1'],
      ['b', '2'],
    ]);
  });

  it('has the redirect that it asks for', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content', { ...objectAttributes, WebsiteRedirectLocation: '/old' });
    for (const MetadataDirective of ['COPY', 'REPLACE'] as const) {
      await copy(bucket, 'source', 'target', { MetadataDirective, WebsiteRedirectLocation: '/new' });
      const target = await head(bucket, 'target');
      expect(target.WebsiteRedirectLocation).toBe('/new');
      expect(target.CacheControl).toBe(MetadataDirective === 'COPY' ? 'no-cache' : undefined);
    }
  });

  it('is nothing of the metadata if that is replaced; the tags stay', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content', {
      ...objectAttributes,
      WebsiteRedirectLocation: '/elsewhere',
      Tagging: 'a=1',
    });
    await copy(bucket, 'source', 'bare', { MetadataDirective: 'REPLACE' });
    const bare = await head(bucket, 'bare');
    const gone = Object.keys(objectAttributes).filter((name) => name !== 'Metadata' && name !== 'ContentType');
    for (const name of [...gone, 'WebsiteRedirectLocation']) expect(bare).not.toHaveProperty(name);
    expect(bare.ContentType).toMatch(/^(?:binary|application)\/octet-stream$/);
    expect(bare.Metadata).toEqual({});
    expect(await tagsOf(bucket, 'bare')).toEqual([['a', '1']]);
    await copy(bucket, 'source', 'other', {
      MetadataDirective: 'REPLACE',
      ContentType: 'text/html',
      Metadata: { x: 'y' },
    });
    expect(await head(bucket, 'other')).toMatchObject({ ContentType: 'text/html', Metadata: { x: 'y' } });
  });

  it('is none of the tags if those are replaced; the metadata stays', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content', { ...objectAttributes, Tagging: 'a=1' });
    await copy(bucket, 'source', 'bare', { TaggingDirective: 'REPLACE' });
    expect(await tagsOf(bucket, 'bare')).toEqual([]);
    await copy(bucket, 'source', 'target', { TaggingDirective: 'REPLACE', Tagging: 'b=2' });
    expect(await tagsOf(bucket, 'target')).toEqual([['b', '2']]);
    expect(await head(bucket, 'target')).toMatchObject(objectAttributes);
    const wrong = copy(bucket, 'source', 'wrong', { TaggingDirective: 'REPLACE', Tagging: 'aws:b=2' });
    await expect(wrong).rejects.toEqual(s3Error('InvalidTag', 400));
  });

  it('may be long', async () => {
    const bucket = await service.bucket();
    const Metadata = { long: 'x'.repeat(1900) };
    await put(service.client, bucket, 'source', 'content', { Metadata, Tagging: 'a=1' });
    await copy(bucket, 'source', 'target');
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'source' }));
    expect((await head(bucket, 'target')).Metadata).toEqual(Metadata);
    expect(await tagsOf(bucket, 'target')).toEqual([['a', '1']]);
  });

  it.each(['x-amz-metadata-directive', 'x-amz-tagging-directive'])('is said by COPY or REPLACE: %s', async (name) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    for (const value of ['copy', 'OTHER', '']) {
      const headers = { 'x-amz-copy-source': `${bucket}/source`, [name]: value };
      const response = await service.send({ method: 'PUT', path: `/${bucket}/target`, headers });
      expectError(response, 400, 'InvalidArgument');
      expect(textOf(response.text, 'ArgumentName')).toBe(name);
    }
  });

  it('has no other storage class', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    const refused = s3Error('InvalidStorageClass', 400);
    await expect(copy(bucket, 'source', 'target', { StorageClass: 'GLACIER' })).rejects.toEqual(refused);
    await copy(bucket, 'source', 'target', { StorageClass: 'STANDARD' });
  });
});

describe('a copy onto itself', () => {
  it('must change something', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { Tagging: 'a=1' });
    for (const more of [{}, { MetadataDirective: 'COPY', Metadata: { a: 'b' } }, { CopySource: `/${bucket}/%6bey` }]) {
      await expect(copy(bucket, 'key', 'key', more as object)).rejects.toEqual(invalidRequest);
    }
    const tags = { TaggingDirective: 'REPLACE', Tagging: 'b=2' } as const;
    await expect(copy(bucket, 'key', 'key', tags)).rejects.toEqual(invalidRequest);
    expect(await tagsOf(bucket, 'key')).toEqual([['a', '1']]);
  });

  it('is judged once the object is found, and is none in another bucket', async () => {
    const [bucket, other] = [await service.bucket(), await service.bucket()];
    await expect(copy(bucket, 'missing', 'missing')).rejects.toEqual(noSuchKey);
    await put(service.client, bucket, 'key', 'content');
    await copy(other, '', 'key', { CopySource: `${bucket}/key` });
    expect(await read(service.client, other, 'key')).toBe('content');
  });

  it('changes metadata, the redirect, or encryption, and no byte', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { ...objectAttributes, Tagging: 'a=1' });
    const blobs = await newBlobs(service);
    await copy(bucket, 'key', 'key', { MetadataDirective: 'REPLACE', Metadata: { mode: '0644' } });
    expect((await head(bucket, 'key')).Metadata).toEqual({ mode: '0644' });
    expect(await tagsOf(bucket, 'key')).toEqual([['a', '1']]);
    await copy(bucket, 'key', 'key', { WebsiteRedirectLocation: '/new' });
    expect(await head(bucket, 'key')).toMatchObject({ WebsiteRedirectLocation: '/new', Metadata: { mode: '0644' } });
    await blobs.expectCount(0);
    await copy(bucket, 'key', 'key', { ServerSideEncryption: 'AES256' });
    expect((await head(bucket, 'key')).ServerSideEncryption).toBe('AES256');
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });
});

describe('conditions on the source of a copy', () => {
  const past = new Date(Date.now() - 86_400_000);
  const future = new Date(Date.now() + 86_400_000);
  const tag = md5Tag('content');

  it.each<[string, Partial<CopyObjectCommandInput>]>([
    ['If-Match', { CopySourceIfMatch: '"other"' }],
    ['If-None-Match', { CopySourceIfNoneMatch: tag }],
    ['If-None-Match', { CopySourceIfNoneMatch: '*' }],
    ['If-Unmodified-Since', { CopySourceIfUnmodifiedSince: past }],
    ['If-Modified-Since', { CopySourceIfModifiedSince: future }],
    ['If-None-Match', { CopySourceIfNoneMatch: tag, CopySourceIfModifiedSince: past }],
    ['If-Match', { CopySourceIfMatch: '"other"', CopySourceIfUnmodifiedSince: future }],
  ])('fail with 412, never with 304: %s %j', async (name, conditions) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    const failure = await copy(bucket, 'source', 'target', conditions).catch((error: unknown) => error);
    expect(failure).toEqual(preconditionFailed);
    expect(failure).toMatchObject({ Condition: `x-amz-copy-source-${name}` });
    expect(await versionsOf(service.client, bucket)).toHaveLength(1);
  });

  it.each<Partial<CopyObjectCommandInput>>([
    { CopySourceIfMatch: tag },
    { CopySourceIfMatch: '*' },
    { CopySourceIfMatch: tag.replaceAll('"', '') },
    { CopySourceIfNoneMatch: '"other"' },
    { CopySourceIfUnmodifiedSince: future },
    { CopySourceIfModifiedSince: past },
    { CopySourceIfMatch: tag, CopySourceIfUnmodifiedSince: past },
    { CopySourceIfNoneMatch: '"other"', CopySourceIfModifiedSince: future },
  ])('hold: %j', async (conditions) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    await copy(bucket, 'source', 'target', conditions);
    expect(await read(service.client, bucket, 'target')).toBe('content');
  });

  it('are judged by the version that is named', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'source', 'content');
    await put(service.client, bucket, 'source', 'newer');
    await copy(bucket, `source?versionId=${VersionId}`, 'target', { CopySourceIfMatch: tag });
    await expect(copy(bucket, 'source', 'target', { CopySourceIfMatch: tag })).rejects.toEqual(preconditionFailed);
  });

  it('do not turn a missing source into anything else', async () => {
    const bucket = await service.bucket();
    await expect(copy(bucket, 'missing', 'target', { CopySourceIfMatch: '"x"' })).rejects.toEqual(noSuchKey);
  });

  it('are apart from those on the target', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    await copy(bucket, 'source', 'target', { IfNoneMatch: '*' });
    await expect(copy(bucket, 'source', 'target', { IfNoneMatch: '*' })).rejects.toEqual(preconditionFailed);
    await expect(copy(bucket, 'source', 'target', { IfMatch: '"other"' })).rejects.toEqual(preconditionFailed);
    await copy(bucket, 'source', 'target', { IfMatch: tag });
    await expect(copy(bucket, 'source', 'missing', { IfMatch: tag })).rejects.toEqual(noSuchKey);
    expect((await versionsOf(service.client, bucket)).map(({ key }) => key)).toEqual(['source', 'target']);
  });
});

describe('the checksum of a copy', () => {
  it('is that of its source, which is not read for it', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content', { ChecksumAlgorithm: 'SHA1' });
    const blobs = await newBlobs(service);
    for (const more of [{}, { ChecksumAlgorithm: 'SHA1' as const }]) {
      const { CopyObjectResult } = await copy(bucket, 'source', 'target', more);
      expect(CopyObjectResult!.ChecksumSHA1).toBe(checksumOf('SHA1', 'content'));
      expect(CopyObjectResult!.ChecksumType).toBe('FULL_OBJECT');
      expect((await head(bucket, 'target')).ChecksumSHA1).toBe(checksumOf('SHA1', 'content'));
    }
    await blobs.expectCount(0);
  });

  it('is another one if that is asked for: then the bytes are read', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content', { ...objectAttributes, ChecksumAlgorithm: 'CRC32' });
    const blobs = await newBlobs(service);
    const { CopyObjectResult } = await copy(bucket, 'source', 'target', { ChecksumAlgorithm: 'SHA256' });
    expect(CopyObjectResult).toMatchObject({
      ChecksumSHA256: checksumOf('SHA256', 'content'),
      ETag: md5Tag('content'),
    });
    const target = await head(bucket, 'target');
    expect(target.ChecksumSHA256).toBe(checksumOf('SHA256', 'content'));
    expect(target.ChecksumCRC32).toBeUndefined();
    expect(target).toMatchObject(objectAttributes);
    expect(await read(service.client, bucket, 'target')).toBe('content');
    await blobs.expectCount(1);
    const empty = await put(service.client, bucket, 'empty', '').then(() =>
      copy(bucket, 'empty', 'target', { ChecksumAlgorithm: 'CRC32C' }),
    );
    expect(empty.CopyObjectResult!.ChecksumCRC32C).toBe(checksumOf('CRC32C', ''));
  });

  it('must be of a known algorithm', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    const wrong = copy(bucket, 'source', 'target', { ChecksumAlgorithm: 'XXHASH64' as never });
    await expect(wrong).rejects.toEqual(invalidRequest);
  });

  it('leaves no bytes behind if a condition on the target fails', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content', { ChecksumAlgorithm: 'CRC32' });
    await put(service.client, bucket, 'target', 'there');
    const blobs = await newBlobs(service);
    const refused = copy(bucket, 'source', 'target', { ChecksumAlgorithm: 'SHA256', IfNoneMatch: '*' });
    await expect(refused).rejects.toEqual(preconditionFailed);
    expect(await read(service.client, bucket, 'target')).toBe('there');
    await blobs.expectCount(0);
  });
});

describe('a copy of an object in parts', () => {
  it('has the same parts and entity tag, and moves no bytes', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket, 'source');
    const bodies = [partOf('a'), Buffer.from('b')];
    await upload.complete([await upload.part(1, bodies[0]!), await upload.part(2, bodies[1]!)]);
    const blobs = await newBlobs(service);
    const { CopyObjectResult } = await copy(bucket, 'source', 'target');
    expect(CopyObjectResult!.ETag).toBe(multipartTag(bodies));
    await blobs.expectCount(0);
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'source' }));
    const whole = await service.send({ path: `/${bucket}/target` });
    expect(whole.body.equals(Buffer.concat(bodies))).toBe(true);
    expect(whole.header('etag')).toBe(multipartTag(bodies));
    const second = await service.send({ path: `/${bucket}/target`, query: 'partNumber=2' });
    expect([second.status, second.text, second.header('x-amz-mp-parts-count')]).toEqual([206, 'b', '2']);
  });

  it('is one piece if its bytes must be read', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket, 'source', { ChecksumAlgorithm: 'CRC32' });
    const bodies = [partOf('a', 3), Buffer.from('b')];
    const parts = [];
    for (const [at, body] of bodies.entries()) {
      parts.push(await upload.part(at + 1, body, { ChecksumAlgorithm: 'CRC32' }));
    }
    await upload.complete(parts);
    const kept = await copy(bucket, 'source', 'kept');
    expect(kept.CopyObjectResult).toMatchObject({ ETag: multipartTag(bodies), ChecksumType: 'COMPOSITE' });
    expect(kept.CopyObjectResult!.ChecksumCRC32).toMatch(/^.{8}-2$/);
    const { CopyObjectResult } = await copy(bucket, 'source', 'target', { ChecksumAlgorithm: 'SHA256' });
    const all = Buffer.concat(bodies);
    expect(CopyObjectResult).toMatchObject({
      ETag: md5Tag(all),
      ChecksumSHA256: checksumOf('SHA256', all),
      ChecksumType: 'FULL_OBJECT',
    });
    expect((await service.send({ path: `/${bucket}/target` })).body.equals(all)).toBe(true);
  });
});

describe('many copies', () => {
  it('share their bytes until they are too many; then they are copied', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content', { ...objectAttributes, Tagging: 'a=1' });
    const blobs = await newBlobs(service);
    for (let count = 1; count < 64; count++) await copy(bucket, 'source', `copy-${count}`);
    await blobs.expectCount(0);
    const { CopyObjectResult } = await copy(bucket, 'source', 'copy-64');
    expect(CopyObjectResult!.ETag).toBe(md5Tag('content'));
    await blobs.expectCount(1);
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'source' }));
    expect(await head(bucket, 'copy-64')).toMatchObject(objectAttributes);
    expect(await tagsOf(bucket, 'copy-64')).toEqual([['a', '1']]);
    expect(await read(service.client, bucket, 'copy-64')).toBe('content');
    expect(await read(service.client, bucket, 'copy-63')).toBe('content');
  });
});

describe('a source that changes meanwhile', () => {
  const contents = ['aaaa', 'bbbb', 'cccc'];

  it('is copied whole, as it was at one moment', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', contents[0], { Metadata: { of: contents[0]! } });
    const writer = (async () => {
      for (let round = 0; round < 40; round++) {
        const content = contents[round % contents.length]!;
        await put(service.client, bucket, 'source', content, { Metadata: { of: content } });
      }
    })();
    const copier = async (name: string): Promise<number> => {
      let done = 0;
      for (let round = 0; round < 20; round++) {
        const key = `${name}-${round}`;
        const outcome = await copy(bucket, 'source', key).catch((error: Error) => error);
        if (outcome instanceof Error) {
          expect(outcome).toEqual(s3Error('SlowDown', 503));
          continue;
        }
        done += 1;
        const { Body, ETag, Metadata } = await service.client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
        const text = await Body!.transformToString();
        expect(contents).toContain(text);
        expect(Metadata).toEqual({ of: text });
        expect([ETag, outcome.CopyObjectResult!.ETag]).toEqual([md5Tag(text), md5Tag(text)]);
      }
      return done;
    };
    const [, ...done] = await Promise.all([writer, copier('a'), copier('b')]);
    expect(done.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(10);
  });

  it('is copied or not there, if it is deleted', async () => {
    const bucket = await service.bucket();
    for (let round = 0; round < 15; round++) {
      await put(service.client, bucket, 'source', 'content');
      const [copied] = await Promise.allSettled([
        copy(bucket, 'source', `copy-${round}`),
        service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'source' })),
      ]);
      if (copied.status === 'rejected') expect(copied.reason).toEqual(noSuchKey);
      else expect(await read(service.client, bucket, `copy-${round}`)).toBe('content');
    }
  });
});

/** A limit that a test can reach. */
describe.runIf(takesSettings)('a source that is too large', () => {
  const small = serviceUnderTest({ args: ['--limit', 'singleUploadBytes=5242880'] });

  it('is not copied at once', async () => {
    const bucket = await small.bucket();
    const upload = await TestUpload.begin(small.client, bucket, 'source');
    await upload.complete([await upload.part(1, partOf('a')), await upload.part(2, 'b')]);
    const request = { Bucket: bucket, Key: 'target', CopySource: `${bucket}/source` };
    await expect(small.client.send(new CopyObjectCommand(request))).rejects.toEqual(invalidRequest);
    await put(small.client, bucket, 'fits', partOf('a'));
    await small.client.send(new CopyObjectCommand({ ...request, CopySource: `${bucket}/fits` }));
  });
});
