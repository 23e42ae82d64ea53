import {
  DeleteObjectCommand,
  DeleteObjectTaggingCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutObjectTaggingCommand,
  type Tag,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { expectError, s3Error, textsOf } from '../support/clients/expect-error.ts';
import { put, setVersioning, versionsOf } from '../support/storage/objects.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { TestUpload } from '../support/storage/uploads.ts';

const service = serviceUnderTest();

const xmlns = 'http://s3.amazonaws.com/doc/2006-03-01/';
const numbered = (count: number): Tag[] =>
  Array.from({ length: count }, (_, at) => ({ Key: `k${at}`, Value: `v${at}` }));
const one = [{ Key: 'k', Value: 'v' }];

async function tagsOf(bucket: string, key = 'key', VersionId?: string): Promise<Tag[]> {
  const { TagSet } = await service.client.send(new GetObjectTaggingCommand({ Bucket: bucket, Key: key, VersionId }));
  return TagSet!;
}

function tag(bucket: string, TagSet: Tag[], key = 'key', VersionId?: string) {
  const request = { Bucket: bucket, Key: key, Tagging: { TagSet }, VersionId };
  return service.client.send(new PutObjectTaggingCommand(request));
}

function untag(bucket: string, key = 'key', VersionId?: string) {
  return service.client.send(new DeleteObjectTaggingCommand({ Bucket: bucket, Key: key, VersionId }));
}

function send(bucket: string, body: string, headers: Record<string, string | null> = {}): Promise<RawResponse> {
  return service.send({ method: 'PUT', path: `/${bucket}/key`, query: 'tagging', body, headers });
}

const noSuchKey = s3Error('NoSuchKey', 404);

/** Expects each of the requests to fail like this. */
async function expectAll(requests: readonly Promise<unknown>[], error: unknown): Promise<void> {
  await Promise.all(requests.map((request) => expect(request).rejects.toEqual(error)));
}

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-tagging.html */
describe('the tags of an object', () => {
  it('are none at first, and then not counted either', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const response = await service.send({ path: `/${bucket}/key`, query: 'tagging' });
    expect(response.status).toBe(200);
    expect(response.text).toBe(`<?xml version="1.0" encoding="UTF-8"?>\n<Tagging xmlns="${xmlns}"><TagSet/></Tagging>`);
    expect(response.header('x-amz-version-id')).toBe('null');
    const { TagCount } = await service.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'key' }));
    expect(TagCount).toBeUndefined();
  });

  it('are set, replaced and removed as a whole, by the bytes of their keys', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { Tagging: 'z=1&a=2' });
    expect(await tagsOf(bucket)).toEqual([
      { Key: 'a', Value: '2' },
      { Key: 'z', Value: '1' },
    ]);
    const tags = [{ Key: 'größe +-=._:/@', Value: '' }, ...numbered(9)];
    expect((await tag(bucket, tags)).VersionId).toBe('null');
    expect(await tagsOf(bucket)).toEqual(tags);
    expect((await service.send({ path: `/${bucket}/key` })).header('x-amz-tagging-count')).toBe('10');
    expect((await service.send({ method: 'HEAD', path: `/${bucket}/key` })).header('x-amz-tagging-count')).toBe('10');
    await tag(bucket, one);
    expect(await tagsOf(bucket)).toEqual(one);
    const removed = await untag(bucket);
    expect([removed.$metadata.httpStatusCode, removed.VersionId]).toEqual([204, 'null']);
    expect(await tagsOf(bucket)).toEqual([]);
    expect((await service.send({ path: `/${bucket}/key` })).header('x-amz-tagging-count')).toBeUndefined();
    await untag(bucket);
    await tag(bucket, one);
    await tag(bucket, []);
    expect(await tagsOf(bucket)).toEqual([]);
  });

  it('are listed by the bytes of their keys, not as words or UTF-16 are', async () => {
    const bucket = await service.bucket();
    // U+FF5A before U+1D400, whose first code unit is U+D835.
    const tags = ['B', 'a', 'ä', '\uff5a', '\u{1d400}'].map((Key) => ({ Key, Value: 'v' }));
    await put(service.client, bucket, 'key');
    await tag(bucket, tags.toReversed());
    expect(await tagsOf(bucket)).toEqual(tags);
  });

  it('change nothing else of it', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', {
      ContentType: 'a/b',
      CacheControl: 'c',
      Metadata: { d: 'e' },
    });
    const look = async () => {
      const { headers, text } = await service.send({ path: `/${bucket}/key` });
      const volatile = ['date', 'x-amz-request-id', 'x-amz-tagging-count'];
      return [...headers.filter(([name]) => !volatile.includes(name)), text];
    };
    const before = await look();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await tag(bucket, one);
    expect(await look()).toEqual(before);
    await untag(bucket);
    expect(await look()).toEqual(before);
    expect(await versionsOf(service.client, bucket)).toHaveLength(1);
  });

  it('may be long, beside metadata that is', async () => {
    const bucket = await service.bucket();
    const tags = numbered(10).map(({ Key }) => ({ Key: Key!.padEnd(128, '-'), Value: 'v'.repeat(256) }));
    const Metadata = { long: 'x'.repeat(1900) };
    await put(service.client, bucket, 'key', 'content', { Metadata });
    for (const TagSet of [tags, tags.slice(1), tags]) {
      await tag(bucket, TagSet);
      expect(await tagsOf(bucket)).toEqual(TagSet);
      const head = await service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'key' }));
      expect(head.Metadata).toEqual(Metadata);
    }
    await untag(bucket);
    const head = await service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'key' }));
    expect(head.Metadata).toEqual(Metadata);
  });

  it('come from the upload in parts as well', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket, 'key', { Tagging: 'k=v' });
    await upload.complete([await upload.part(1, 'x')]);
    expect(await tagsOf(bucket)).toEqual(one);
  });

  it('go with the object', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { Tagging: 'k=v' });
    await put(service.client, bucket, 'key', 'other');
    expect(await tagsOf(bucket)).toEqual([]);
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }));
    await expectAll([tagsOf(bucket), tag(bucket, one), untag(bucket)], noSuchKey);
    expect(await versionsOf(service.client, bucket)).toEqual([]);
  });

  it('are 404 without a bucket, and 403 for strangers', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { Tagging: 'k=v' });
    const missing = service.freeName();
    await expectAll([tagsOf(missing), tag(missing, one), untag(missing)], s3Error('NoSuchBucket', 404));
    const body = '<Tagging><TagSet/></Tagging>';
    for (const method of ['GET', 'PUT', 'DELETE']) {
      for (const query of ['tagging', 'tagging&versionId=null']) {
        const request = { method, path: `/${bucket}/key`, query, ...(method === 'PUT' && { body }) };
        expectError(await service.send(request, { key: service.bob }), 403, 'AccessDenied');
        expectError(await service.sendUnsigned(request), 403, 'AccessDenied');
      }
    }
    expect(await tagsOf(bucket)).toEqual(one);
  });
});

describe('the tags of a version', () => {
  it('are its own, and those of the current one unless it is named', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'zero', { Tagging: 'of=zero' });
    await setVersioning(service.client, bucket, 'Enabled');
    const first = (await put(service.client, bucket, 'key', 'one', { Tagging: 'of=one' })).VersionId!;
    const second = (await put(service.client, bucket, 'key', 'two')).VersionId!;
    expect(await tagsOf(bucket)).toEqual([]);
    expect(await tagsOf(bucket, 'key', first)).toEqual([{ Key: 'of', Value: 'one' }]);
    expect(await tagsOf(bucket, 'key', 'null')).toEqual([{ Key: 'of', Value: 'zero' }]);
    expect((await tag(bucket, one, 'key', first)).VersionId).toBe(first);
    expect((await tag(bucket, numbered(2))).VersionId).toBe(second);
    expect((await untag(bucket, 'key', 'null')).VersionId).toBe('null');
    expect(await tagsOf(bucket, 'key', first)).toEqual(one);
    expect(await tagsOf(bucket, 'key', second)).toEqual(numbered(2));
    expect(await tagsOf(bucket, 'key', 'null')).toEqual([]);
    const rows = await versionsOf(service.client, bucket);
    expect(rows.map(({ id, isLatest }) => [id, isLatest])).toEqual([
      [second, true],
      [first, false],
      ['null', false],
    ]);
    for (const [id, content] of [
      [first, 'one'],
      ['null', 'zero'],
    ] as const) {
      expect((await service.send({ path: `/${bucket}/key`, query: `versionId=${id}` })).text).toBe(content);
    }
  });

  it('are none of a delete marker', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    await put(service.client, bucket, 'key', 'content');
    const { VersionId } = await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }));
    await expectAll([tagsOf(bucket), tag(bucket, one), untag(bucket)], noSuchKey);
    const requests = [
      tagsOf(bucket, 'key', VersionId),
      tag(bucket, one, 'key', VersionId),
      untag(bucket, 'key', VersionId),
    ];
    await expectAll(requests, s3Error('MethodNotAllowed', 405));
  });

  it('are none of what is no version', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    await put(service.client, bucket, 'key', 'content');
    for (const id of ['x'.repeat(32), 'null']) {
      await expectAll([tagsOf(bucket, 'key', id), tag(bucket, one, 'key', id), untag(bucket, 'key', id)], noSuchKey);
    }
    const malformed = s3Error('InvalidArgument', 400);
    const requests = [tagsOf(bucket, 'key', 'x'), tag(bucket, one, 'key', 'x'), untag(bucket, 'key', 'x')];
    await expectAll(requests, malformed);
  });
});

describe('tags that are none', () => {
  it.each<[string, Tag[]]>([
    ['too many', numbered(11)],
    ['no key', [{ Key: '', Value: 'v' }]],
    ['a key of 129', [{ Key: 'k'.repeat(129), Value: 'v' }]],
    ['a value of 257', [{ Key: 'k', Value: 'v'.repeat(257) }]],
    ['a key twice', [...one, ...one]],
    ['a reserved key', [{ Key: 'aws:k', Value: 'v' }]],
    ['another character', [{ Key: 'k', Value: 'a&b' }]],
  ])('are refused, and the old ones stay: %s', async (_, tags) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { Tagging: 'k=v' });
    await expect(tag(bucket, tags)).rejects.toEqual(s3Error('InvalidTag', 400));
    expect(await tagsOf(bucket)).toEqual(one);
    const header = tags.map(({ Key, Value }) => `${encodeURIComponent(Key!)}=${encodeURIComponent(Value!)}`).join('&');
    const upload = put(service.client, bucket, 'other', 'content', { Tagging: header });
    await expect(upload).rejects.toEqual(s3Error('InvalidTag', 400));
    await expect(TestUpload.begin(service.client, bucket, 'other', { Tagging: header })).rejects.toEqual(
      s3Error('InvalidTag', 400),
    );
    expect(await versionsOf(service.client, bucket)).toHaveLength(1);
  });

  it.each([
    '',
    'text',
    '<Tagging>',
    '<Tagging/>',
    '<Other/>',
    '<Tagging><TagSet><Tag><Key>k</Key></Tag></TagSet></Tagging>',
    '<Tagging><TagSet><Tag><Key>k</Key><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>',
    '<!DOCTYPE Tagging [<!ENTITY a "b">]><Tagging><TagSet/></Tagging>',
  ])('are malformed: %s', async (body) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { Tagging: 'k=v' });
    expectError(await send(bucket, body), 400, 'MalformedXML');
    expect(await tagsOf(bucket)).toEqual(one);
  });

  it('are too long, without a length, or not what their checksums say', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { Tagging: 'k=v' });
    const fine = '<Tagging><TagSet/></Tagging>';
    const long = fine.replace('<TagSet/>', `<!--${'x'.repeat(1024 * 1024)}--><TagSet/>`);
    expectError(await send(bucket, long), 400, 'MaxMessageLengthExceeded');
    expectError(await send(bucket, '', { 'content-length': null }), 411, 'MissingContentLength');
    expectError(await send(bucket, fine, { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }), 400, 'BadDigest');
    expectError(await send(bucket, fine, { 'x-amz-checksum-crc32': 'AAAAAA==' }), 400, 'BadDigest');
    expect(await tagsOf(bucket)).toEqual(one);
  });

  it('are not decodable in the header of an upload', async () => {
    const bucket = await service.bucket();
    const headers = { 'x-amz-tagging': 'k=%zz' };
    const response = await service.send({ method: 'PUT', path: `/${bucket}/key`, headers, body: 'x' });
    expectError(response, 400, 'InvalidArgument');
    expect(await versionsOf(service.client, bucket)).toEqual([]);
  });
});

describe('tags in a document of any namespace', () => {
  it.each(['', ` xmlns="${xmlns}"`, ' xmlns="other:"'])('are read:%s', async (namespace) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const set = '<TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet>';
    const response = await send(bucket, `<Tagging${namespace}>${set}</Tagging>`);
    expect([response.status, response.text]).toEqual([200, '']);
    const { text } = await service.send({ path: `/${bucket}/key`, query: 'tagging' });
    expect([textsOf(text, 'Key'), textsOf(text, 'Value')]).toEqual([['k'], ['v']]);
  });
});

describe('tags that are set at once', () => {
  it('are all those of one request', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const sets = ['a', 'b', 'c', 'd'].map((letter) => numbered(3).map(({ Key }) => ({ Key: Key!, Value: letter })));
    await Promise.all(sets.map((set) => tag(bucket, set)));
    expect(sets).toContainEqual(await tagsOf(bucket));
    expect((await service.send({ path: `/${bucket}/key` })).text).toBe('content');
  });
});
