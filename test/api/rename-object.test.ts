import {
  DeleteObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutObjectTaggingCommand,
  RenameObjectCommand,
  type RenameObjectCommandInput,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { newBlobs } from '../support/disks/blobs-on-disk.ts';
import { expectError, s3Error } from '../support/clients/expect-error.ts';
import { md5Tag, put, read, setVersioning, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { pathOf } from '../support/clients/signer.ts';
import { multipartTag, partOf, TestUpload } from '../support/storage/uploads.ts';

const service = serviceUnderTest({ alone: true });

/** Without a client token, which the SDK would make up. */
async function rename(
  bucket: string,
  source: string,
  key: string,
  headers: Record<string, string> = {},
): Promise<void> {
  const response = await service.send({
    method: 'PUT',
    path: pathOf(bucket, key),
    query: 'renameObject',
    headers: { 'x-amz-rename-source': source, ...headers },
  });
  if (response.status === 200) return expect(response.text).toBe('');
  throw Object.assign(new Error(response.text), { response });
}

async function keysOf(bucket: string): Promise<string[]> {
  return (await versionsOf(service.client, bucket)).map(({ key }) => key);
}

/** Expects a request to be refused like this. */
async function refused(request: Promise<unknown>, status: number, code: string): Promise<void> {
  const error = (await request.then(
    () => ({ response: undefined }),
    (reason: unknown) => reason,
  )) as { readonly response?: Parameters<typeof expectError>[0] };
  expect(error.response, 'it was not refused').toBeDefined();
  expectError(error.response!, status, code);
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_RenameObject.html */
describe('RenameObject', () => {
  it('gives an object another name, and moves no bytes', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'old', 'content', {
      ContentType: 'text/plain',
      CacheControl: 'no-cache',
      WebsiteRedirectLocation: '/x',
      Metadata: { a: 'b' },
      Tagging: 'c=d',
      ChecksumAlgorithm: 'SHA1',
    });
    const look = { Bucket: bucket, ChecksumMode: 'ENABLED' } as const;
    const { $metadata: _, ...before } = await service.client.send(new HeadObjectCommand({ ...look, Key: 'old' }));
    const blobs = await newBlobs(service);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await rename(bucket, 'old', 'new');
    const { $metadata: __, ...after } = await service.client.send(new HeadObjectCommand({ ...look, Key: 'new' }));
    expect(after).toEqual(before);
    expect(await read(service.client, bucket, 'new')).toBe('content');
    const { TagSet } = await service.client.send(new GetObjectTaggingCommand({ Bucket: bucket, Key: 'new' }));
    expect(TagSet).toEqual([{ Key: 'c', Value: 'd' }]);
    expect(await keysOf(bucket)).toEqual(['new']);
    await expect(read(service.client, bucket, 'old')).rejects.toEqual(s3Error('NoSuchKey', 404));
    await blobs.expectCount(0);
  });

  it('is done by the SDK', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'old', 'content');
    const request: RenameObjectCommandInput = { Bucket: bucket, Key: 'new', RenameSource: `/${bucket}/old` };
    await service.client.send(new RenameObjectCommand(request));
    expect(await read(service.client, bucket, 'new')).toBe('content');
  });

  it('takes the place of what has the name', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'old', 'content');
    await put(service.client, bucket, 'new', 'replaced', { Metadata: { a: 'b' }, Tagging: 'a=b' });
    await rename(bucket, 'old', 'new');
    const { Metadata, TagCount } = (await service.client.send(
      new HeadObjectCommand({ Bucket: bucket, Key: 'new' }),
    )) as { Metadata?: object; TagCount?: number };
    expect({ Metadata, TagCount }).toEqual({ Metadata: {}, TagCount: undefined });
    expect(await keysOf(bucket)).toEqual(['new']);
  });

  it('renames what is empty, what is in parts, what is long to describe, and a folder', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'empty', '');
    await rename(bucket, 'empty', 'new-empty');
    expect(await read(service.client, bucket, 'new-empty')).toBe('');

    const upload = await TestUpload.begin(service.client, bucket, 'parts');
    const bodies = [partOf('a'), Buffer.from('b')];
    await upload.complete([await upload.part(1, bodies[0]!), await upload.part(2, bodies[1]!)]);
    await rename(bucket, 'parts', 'new-parts');
    const whole = await service.send({ path: `/${bucket}/new-parts` });
    expect(whole.header('etag')).toBe(multipartTag(bodies));
    expect(whole.body.equals(Buffer.concat(bodies))).toBe(true);

    const Metadata = { long: 'x'.repeat(1900) };
    await put(service.client, bucket, 'long', 'content', { Metadata });
    await rename(bucket, 'long', 'new-long');
    const long = await service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'new-long' }));
    expect(long.Metadata).toEqual(Metadata);

    await put(service.client, bucket, 'folder/', '');
    await rename(bucket, 'folder/', 'new/folder/');
    expect(await keysOf(bucket)).toEqual(['new-empty', 'new-long', 'new-parts', 'new/folder/']);
  });

  it('answers 404 where nothing is, and changes nothing then', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'new', 'content');
    await refused(rename(bucket, 'old', 'new'), 404, 'NoSuchKey');
    expect(await read(service.client, bucket, 'new')).toBe('content');
    await refused(rename(service.freeName(), 'old', 'new'), 404, 'NoSuchBucket');
  });

  it('is nothing for strangers', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'old', 'content');
    const request = {
      method: 'PUT',
      path: `/${bucket}/new`,
      query: 'renameObject',
      headers: { 'x-amz-rename-source': 'old' },
    };
    expectError(await service.send(request, { key: service.bob }), 403, 'AccessDenied');
    expectError(await service.sendUnsigned(request), 403, 'AccessDenied');
    expectError(await service.send(request, { unsigned: ['x-amz-rename-source'] }), 403, 'AccessDenied');
    expect(await keysOf(bucket)).toEqual(['old']);
  });

  it('goes on for as long as one likes', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'name-0', 'content');
    const blobs = await newBlobs(service);
    for (let count = 0; count < 70; count++) await rename(bucket, `name-${count}`, `name-${count + 1}`);
    expect(await keysOf(bucket)).toEqual(['name-70']);
    expect(await read(service.client, bucket, 'name-70')).toBe('content');
    await blobs.expectCount(0);
  });
});

describe('the source of a rename', () => {
  it.each(['a+b', 'a b', 'a%2Bb', '/leading', 'a?versionId=null', '日本/😀', '../x', 'folder/', '#&=;'])(
    'may be called %j',
    async (key) => {
      const bucket = await service.bucket();
      const path = pathOf(bucket, key);
      await service.send({ method: 'PUT', path, body: 'content' });
      await rename(bucket, path, 'new');
      expect(await keysOf(bucket)).toEqual(['new']);
      await rename(bucket, 'new', key);
      expect((await service.send({ path })).text).toBe('content');
      if (key.startsWith('/')) return;
      await rename(bucket, path.slice(`/${bucket}/`.length), 'new');
      expect(await read(service.client, bucket, 'new')).toBe('content');
    },
  );

  it.each(['', '/', '/bucket', '/bucket/', '/other/old', '/bucketother/old', '/bucket/new', 'new', '%6eew'])(
    'is none: "%s"',
    async (source) => {
      const bucket = await service.bucket();
      await put(service.client, bucket, 'old', 'content');
      await put(service.client, bucket, 'new', 'there');
      await refused(rename(bucket, source.replace('bucket', bucket), 'new'), 400, 'InvalidArgument');
      expect(await keysOf(bucket)).toEqual(['new', 'old']);
      expect(await read(service.client, bucket, 'new')).toBe('there');
    },
  );

  it('must be said', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'new', 'there');
    const request = { method: 'PUT', path: `/${bucket}/new`, query: 'renameObject', body: 'other' };
    expectError(await service.send(request), 400, 'InvalidArgument');
    expect(await read(service.client, bucket, 'new')).toBe('there');
  });

  it('is decoded once, and must be a key', async () => {
    const bucket = await service.bucket();
    await refused(rename(bucket, 'a%', 'new'), 400, 'InvalidURI');
    await refused(rename(bucket, 'a%ff', 'new'), 400, 'InvalidObjectName');
  });
});

describe('a rename where there are versions', () => {
  it('leaves a delete marker, and makes a new version of the target', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const old = await put(service.client, bucket, 'old', 'content', { Metadata: { a: 'b' } });
    const there = await put(service.client, bucket, 'new', 'there');
    await rename(bucket, 'old', 'new');
    const rows = await versionsOf(service.client, bucket);
    const [target] = rows.filter(({ key, isLatest }) => key === 'new' && isLatest);
    expect(rows.map(({ key, isLatest, isMarker }) => [key, isLatest, isMarker])).toEqual([
      ['new', true, false],
      ['new', false, false],
      ['old', false, false],
      ['old', true, true],
    ]);
    expect([old.VersionId, there.VersionId]).not.toContain(target!.id);
    expect(await read(service.client, bucket, 'new')).toBe('content');
    expect(await read(service.client, bucket, 'new', there.VersionId)).toBe('there');
    expect(await read(service.client, bucket, 'old', old.VersionId)).toBe('content');
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'old', VersionId: old.VersionId }));
    expect(await read(service.client, bucket, 'new')).toBe('content');
    await refused(rename(bucket, 'old', 'other'), 404, 'NoSuchKey');
  });

  it('moves the null version while versioning is suspended', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Suspended');
    await put(service.client, bucket, 'old', 'content');
    await rename(bucket, 'old', 'new');
    expect((await versionsOf(service.client, bucket)).map(({ key, id, isMarker }) => [key, id, isMarker])).toEqual([
      ['new', 'null', false],
    ]);
  });

  it('hides what was named by a null marker while versioning is suspended', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'old', 'content');
    await setVersioning(service.client, bucket, 'Suspended');
    await rename(bucket, 'old', 'new');
    const rows = await versionsOf(service.client, bucket);
    expect(rows.map(({ key, id, isMarker }) => [key, id, isMarker])).toEqual([
      ['new', 'null', false],
      ['old', VersionId, false],
      ['old', 'null', true],
    ]);
    expect(await read(service.client, bucket, 'old', VersionId)).toBe('content');
  });
});

describe('conditions of a rename', () => {
  const tag = md5Tag('content');
  const past = new Date(Date.now() - 86_400_000).toUTCString();
  const future = new Date(Date.now() + 86_400_000).toUTCString();

  it.each([
    ['x-amz-rename-source-if-match', '"other"'],
    ['x-amz-rename-source-if-none-match', tag],
    ['x-amz-rename-source-if-modified-since', future],
    ['x-amz-rename-source-if-unmodified-since', past],
    ['if-match', '"other"'],
    ['if-none-match', '*'],
    ['if-modified-since', future],
    ['if-unmodified-since', past],
  ])('fail with 412: %s: %s', async (name, value) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'old', 'content');
    await put(service.client, bucket, 'new', 'there');
    await refused(rename(bucket, 'old', 'new', { [name]: value }), 412, 'PreconditionFailed');
    expect(await read(service.client, bucket, 'old')).toBe('content');
    expect(await read(service.client, bucket, 'new')).toBe('there');
  });

  it.each([
    ['x-amz-rename-source-if-match', tag],
    ['x-amz-rename-source-if-none-match', '"other"'],
    ['x-amz-rename-source-if-modified-since', past],
    ['x-amz-rename-source-if-unmodified-since', future],
    ['if-match', md5Tag('there')],
    ['if-match', '*'],
    ['if-modified-since', past],
    ['if-unmodified-since', future],
  ])('hold: %s: %s', async (name, value) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'old', 'content');
    await put(service.client, bucket, 'new', 'there');
    await rename(bucket, 'old', 'new', { [name]: value });
    expect(await keysOf(bucket)).toEqual(['new']);
  });

  it('on a target that is not there: If-None-Match holds, If-Match finds no key', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'old', 'content');
    await refused(rename(bucket, 'old', 'new', { 'if-match': '*' }), 404, 'NoSuchKey');
    await rename(bucket, 'old', 'new', { 'if-none-match': '*', 'if-unmodified-since': past });
    expect(await keysOf(bucket)).toEqual(['new']);
  });
});

describe('the client token of a rename', () => {
  it('makes a repetition succeed, once it has happened', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'old', 'content');
    const token = { 'x-amz-client-token': 'token-1' };
    await rename(bucket, 'old', 'new', token);
    await rename(bucket, 'old', 'new', token);
    expect(await keysOf(bucket)).toEqual(['new']);
    await refused(rename(bucket, 'old', 'new'), 404, 'NoSuchKey');
    await refused(rename(bucket, 'old', 'new', { 'x-amz-client-token': 'token-2' }), 404, 'NoSuchKey');
    await refused(rename(bucket, 'old', 'another', token), 404, 'NoSuchKey');
    await put(service.client, bucket, 'new', 'replaced');
    await refused(rename(bucket, 'old', 'new', token), 404, 'NoSuchKey');
  });

  it('has at most 64 characters', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'old', 'content');
    const long = { 'x-amz-client-token': 't'.repeat(65) };
    await refused(rename(bucket, 'old', 'new', long), 400, 'InvalidArgument');
    await rename(bucket, 'old', 'new', { 'x-amz-client-token': 't'.repeat(64) });
  });
});

describe('a rename beside other changes', () => {
  const settled = async (...all: readonly Promise<unknown>[]): Promise<readonly boolean[]> =>
    (await Promise.allSettled(all)).map(({ status }) => status === 'fulfilled');

  it('is shown as one name, never as both or neither', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'a', 'content');
    let done = false;
    const renamer = (async () => {
      for (let round = 0; round < 20; round++) {
        await rename(bucket, 'a', 'b');
        await rename(bucket, 'b', 'a');
      }
      done = true;
    })();
    const seen: string[] = [];
    while (!done) seen.push((await keysOf(bucket)).join());
    await renamer;
    expect(seen.length).toBeGreaterThan(0);
    for (const keys of seen) expect(['a', 'b']).toContain(keys);
  });

  it('and a PUT on the source: nothing is lost', async () => {
    const bucket = await service.bucket();
    for (let round = 0; round < 15; round++) {
      await put(service.client, bucket, 'old', 'first');
      const [renamed] = await settled(rename(bucket, 'old', 'new'), put(service.client, bucket, 'old', 'second'));
      expect(renamed).toBe(true);
      const target = await read(service.client, bucket, 'new');
      const source = await read(service.client, bucket, 'old').catch(() => undefined);
      // The PUT came after the rename, or before it and went along.
      expect([
        ['first', 'second'],
        ['second', undefined],
      ]).toContainEqual([target, source]);
    }
  });

  it('and a PUT on the target: one of them is the last', async () => {
    const bucket = await service.bucket();
    for (let round = 0; round < 15; round++) {
      await put(service.client, bucket, 'old', 'renamed');
      const outcome = await settled(rename(bucket, 'old', 'new'), put(service.client, bucket, 'new', 'put'));
      expect(outcome).toEqual([true, true]);
      expect(['renamed', 'put']).toContain(await read(service.client, bucket, 'new'));
      await expect(read(service.client, bucket, 'old')).rejects.toEqual(s3Error('NoSuchKey', 404));
    }
  });

  it('and new tags of the source: they go along, or find nothing', async () => {
    const bucket = await service.bucket();
    const tagging = { TagSet: [{ Key: 'k', Value: 'v' }] };
    for (let round = 0; round < 25; round++) {
      await put(service.client, bucket, 'old', 'content');
      const [renamed, tagged] = await settled(
        rename(bucket, 'old', 'new'),
        service.client.send(new PutObjectTaggingCommand({ Bucket: bucket, Key: 'old', Tagging: tagging })),
      );
      expect(renamed).toBe(true);
      const { TagSet } = await service.client.send(new GetObjectTaggingCommand({ Bucket: bucket, Key: 'new' }));
      expect(TagSet).toEqual(tagged === true ? tagging.TagSet : []);
    }
  });

  it('of the same object: one wins', async () => {
    const bucket = await service.bucket();
    for (let round = 0; round < 10; round++) {
      await put(service.client, bucket, 'old', 'content');
      const targets = ['a', 'b', 'c'];
      const outcome = await settled(...targets.map((target) => rename(bucket, 'old', target)));
      expect(outcome.filter(Boolean)).toHaveLength(1);
      const winner = targets[outcome.indexOf(true)]!;
      expect(await keysOf(bucket)).toEqual([winner]);
      expect(await read(service.client, bucket, winner)).toBe('content');
      await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: winner }));
    }
  });

  it('crosswise, with versions: every content is still there', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const a = await put(service.client, bucket, 'a', 'of a');
    const b = await put(service.client, bucket, 'b', 'of b');
    await settled(rename(bucket, 'a', 'b'), rename(bucket, 'b', 'a'));
    expect(await read(service.client, bucket, 'a', a.VersionId)).toBe('of a');
    expect(await read(service.client, bucket, 'b', b.VersionId)).toBe('of b');
    for (const { key, id, isMarker } of await versionsOf(service.client, bucket)) {
      if (!isMarker) expect(['of a', 'of b']).toContain(await read(service.client, bucket, key, id));
    }
  });
});
