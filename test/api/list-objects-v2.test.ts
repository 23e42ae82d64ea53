import {
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  type ListObjectsV2CommandOutput,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { md5Tag, put, putAll, setVersioning } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { DeleteObjectCommand } from '@aws-sdk/client-s3';

const service = serviceUnderTest();

type Page = Omit<ListObjectsV2CommandOutput, '$metadata'> & { keys: string[]; prefixes: string[] };

async function list(bucket: string, more: Partial<ListObjectsV2CommandInput> = {}): Promise<Page> {
  const output = await service.client.send(new ListObjectsV2Command({ Bucket: bucket, ...more }));
  return {
    ...output,
    keys: (output.Contents ?? []).map(({ Key }) => Key!),
    prefixes: (output.CommonPrefixes ?? []).map(({ Prefix }) => Prefix!),
  };
}

async function holding(...keys: string[]): Promise<string> {
  const bucket = await service.bucket();
  await putAll(service.client, bucket, keys);
  return bucket;
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html */
describe('ListObjectsV2', () => {
  it('lists what is in a bucket, and says how it was asked', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const page = await list(bucket);
    expect(page).toMatchObject({ Name: bucket, Prefix: '', KeyCount: 1, MaxKeys: 1000, IsTruncated: false });
    expect(page).not.toHaveProperty('Delimiter');
    expect(page).not.toHaveProperty('NextContinuationToken');
    const { LastModified } = await service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'key' }));
    const [entry] = page.Contents!;
    expect(entry).toEqual({
      Key: 'key',
      ETag: md5Tag('content'),
      Size: 7,
      StorageClass: 'STANDARD',
      ChecksumAlgorithm: ['CRC32'],
      ChecksumType: 'FULL_OBJECT',
      LastModified: entry!.LastModified,
    });
    expect(Math.floor(entry!.LastModified!.getTime() / 1000)).toBe(LastModified!.getTime() / 1000);
  });

  it('lists nothing of an empty bucket', async () => {
    expect(await list(await service.bucket())).toMatchObject({ keys: [], KeyCount: 0, IsTruncated: false });
  });

  it('orders keys by their bytes in UTF-8', async () => {
    // By UTF-16 the last two would change places.
    const keys = ['A', 'a', 'a/b', 'aa', 'ä', 'ﬁ', '𐍈'];
    expect((await list(await holding(...keys.toReversed()))).keys).toEqual(keys);
  });

  it('tells the owners only if asked', async () => {
    const bucket = await holding('key');
    const { Contents } = await list(bucket, { FetchOwner: true });
    expect(Contents![0]!.Owner).toEqual({
      ID: expect.stringMatching(/./) as string,
      DisplayName: expect.stringMatching(/./) as string,
    });
    expect((await list(bucket, { FetchOwner: false })).Contents![0]).not.toHaveProperty('Owner');
  });

  it('lists only keys with the prefix', async () => {
    const bucket = await holding('a', 'a/1', 'a/2', 'b');
    expect(await list(bucket, { Prefix: 'a/' })).toMatchObject({ keys: ['a/1', 'a/2'], KeyCount: 2, Prefix: 'a/' });
    expect((await list(bucket, { Prefix: 'c' })).keys).toEqual([]);
  });

  it('rolls up what has the delimiter behind the prefix', async () => {
    const bucket = await holding('a', 'b/1', 'b/2/3', 'c/', 'd');
    expect(await list(bucket, { Delimiter: '/' })).toMatchObject({
      keys: ['a', 'd'],
      prefixes: ['b/', 'c/'],
      KeyCount: 4,
      Delimiter: '/',
    });
    expect(await list(bucket, { Delimiter: '/', Prefix: 'b/' })).toMatchObject({ keys: ['b/1'], prefixes: ['b/2/'] });
    expect(await list(bucket, { Delimiter: '/', Prefix: 'c/' })).toMatchObject({ keys: ['c/'], prefixes: [] });
  });

  it('gives page after page until all is listed', async () => {
    const keys = Array.from({ length: 25 }, (_, n) => `key-${String(n).padStart(2, '0')}`);
    const bucket = await holding(...keys);
    const found: string[] = [];
    let token: string | undefined;
    do {
      const page = await list(bucket, { MaxKeys: 10, ...(token && { ContinuationToken: token }) });
      expect(page.ContinuationToken).toBe(token);
      expect(page.KeyCount).toBe(page.keys.length);
      expect(page.MaxKeys).toBe(10);
      expect(page.IsTruncated).toBe(page.NextContinuationToken !== undefined);
      found.push(...page.keys);
      token = page.NextContinuationToken;
    } while (token !== undefined);
    expect(found).toEqual(keys);
  });

  it('counts each common prefix as one entry of a page', async () => {
    const bucket = await holding('a/1', 'a/2', 'b', 'c/1', 'c/2', 'd');
    const first = await list(bucket, { Delimiter: '/', MaxKeys: 2 });
    expect(first).toMatchObject({ keys: ['b'], prefixes: ['a/'], KeyCount: 2, IsTruncated: true });
    const second = await list(bucket, {
      Delimiter: '/',
      MaxKeys: 2,
      ContinuationToken: first.NextContinuationToken!,
    });
    expect(second).toMatchObject({ keys: ['d'], prefixes: ['c/'], KeyCount: 2, IsTruncated: false });
  });

  it('starts after a key, which need not exist; a token overrides it', async () => {
    const bucket = await holding('a', 'b', 'c', 'd');
    expect(await list(bucket, { StartAfter: 'b' })).toMatchObject({ keys: ['c', 'd'], StartAfter: 'b' });
    expect((await list(bucket, { StartAfter: 'bb' })).keys).toEqual(['c', 'd']);
    const { NextContinuationToken: token } = await list(bucket, { MaxKeys: 1 });
    const page = await list(bucket, { StartAfter: 'c', ContinuationToken: token! });
    expect(page).toMatchObject({ keys: ['b', 'c', 'd'], StartAfter: 'c', ContinuationToken: token });
  });

  it('serves at most a thousand, and none if asked for none', async () => {
    const bucket = await holding('a', 'b');
    expect(await list(bucket, { MaxKeys: 5000 })).toMatchObject({ MaxKeys: 1000, keys: ['a', 'b'] });
    expect(await list(bucket, { MaxKeys: 0 })).toMatchObject({ MaxKeys: 0, KeyCount: 0, IsTruncated: false });
  });

  it('truncates a bucket of more than a thousand', async () => {
    const keys = Array.from({ length: 1003 }, (_, n) => `key-${String(n).padStart(4, '0')}`);
    const bucket = await service.bucket();
    for (let at = 0; at < keys.length; at += 50) await putAll(service.client, bucket, keys.slice(at, at + 50));
    const first = await list(bucket);
    expect(first).toMatchObject({ keys: keys.slice(0, 1000), KeyCount: 1000, IsTruncated: true });
    const second = await list(bucket, { ContinuationToken: first.NextContinuationToken! });
    expect(second).toMatchObject({ keys: keys.slice(1000), IsTruncated: false });
  });

  it('does not list objects whose latest version is a delete marker', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    await putAll(service.client, bucket, ['a/deleted', 'b', 'c']);
    for (const Key of ['a/deleted', 'b']) await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
    expect(await list(bucket, { Delimiter: '/' })).toMatchObject({ keys: ['c'], prefixes: [], KeyCount: 1 });
    expect(await list(bucket, { MaxKeys: 1 })).toMatchObject({ keys: ['c'], IsTruncated: false });
  });

  it('refuses tokens that it did not give for this question', async () => {
    const bucket = await holding('a/1', 'a/2', 'b');
    const { NextContinuationToken: token } = await list(bucket, { MaxKeys: 1 });
    const refusal = s3Error('InvalidArgument', 400);
    await expect(list(bucket, { ContinuationToken: 'garbage' })).rejects.toEqual(refusal);
    await expect(list(bucket, { ContinuationToken: token!, Prefix: 'a' })).rejects.toEqual(refusal);
    await expect(list(bucket, { ContinuationToken: token!, Delimiter: '/' })).rejects.toEqual(refusal);
    await expect(list(await holding('a'), { ContinuationToken: token! })).rejects.toEqual(refusal);
  });

  it('answers 404 for no bucket and 403 to strangers', async () => {
    await expect(list(service.freeName())).rejects.toEqual(s3Error('NoSuchBucket', 404));
    const request = new ListObjectsV2Command({ Bucket: await service.bucket() });
    await expect(service.stranger.send(request)).rejects.toEqual(s3Error('AccessDenied', 403));
  });
});
