import { ListObjectsCommand, type ListObjectsCommandInput, type ListObjectsCommandOutput } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { md5Tag, put, putAll } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

type Page = Omit<ListObjectsCommandOutput, '$metadata'> & { keys: string[]; prefixes: string[] };

async function list(bucket: string, more: Partial<ListObjectsCommandInput> = {}): Promise<Page> {
  const output = await service.client.send(new ListObjectsCommand({ Bucket: bucket, ...more }));
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

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjects.html */
describe('ListObjects', () => {
  it('lists what is in a bucket with its owner, and says how it was asked', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const page = await list(bucket);
    expect(page).toMatchObject({ Name: bucket, Prefix: '', Marker: '', MaxKeys: 1000, IsTruncated: false });
    expect(page).not.toHaveProperty('NextMarker');
    expect(page).not.toHaveProperty('Delimiter');
    expect(page.Contents).toEqual([
      {
        Key: 'key',
        ETag: md5Tag('content'),
        Size: 7,
        StorageClass: 'STANDARD',
        ChecksumAlgorithm: ['CRC32'],
        ChecksumType: 'FULL_OBJECT',
        LastModified: expect.any(Date) as Date,
        Owner: { ID: expect.stringMatching(/./) as string, DisplayName: expect.stringMatching(/./) as string },
      },
    ]);
  });

  it('gives page after page by the last name of each', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e'];
    const bucket = await holding(...keys);
    const first = await list(bucket, { MaxKeys: 2 });
    expect(first).toMatchObject({ keys: ['a', 'b'], NextMarker: 'b', IsTruncated: true, MaxKeys: 2 });
    const second = await list(bucket, { MaxKeys: 2, Marker: first.NextMarker! });
    expect(second).toMatchObject({ keys: ['c', 'd'], Marker: 'b', NextMarker: 'd', IsTruncated: true });
    const third = await list(bucket, { MaxKeys: 2, Marker: second.NextMarker! });
    expect(third).toMatchObject({ keys: ['e'], IsTruncated: false });
    expect(third).not.toHaveProperty('NextMarker');
  });

  it('starts after a marker, which need not exist', async () => {
    expect((await list(await holding('a', 'b', 'd'), { Marker: 'c' })).keys).toEqual(['d']);
  });

  it('lists only keys with the prefix, and rolls up at the delimiter', async () => {
    const bucket = await holding('a', 'b/1', 'b/2/3', 'd');
    expect(await list(bucket, { Delimiter: '/' })).toMatchObject({
      keys: ['a', 'd'],
      prefixes: ['b/'],
      Delimiter: '/',
    });
    expect(await list(bucket, { Delimiter: '/', Prefix: 'b/' })).toMatchObject({ keys: ['b/1'], prefixes: ['b/2/'] });
  });

  it('continues behind a whole group when the marker is its prefix or lies in it', async () => {
    const bucket = await holding('a', 'b/1', 'b/2', 'c', 'd/1');
    const first = await list(bucket, { Delimiter: '/', MaxKeys: 2 });
    expect(first).toMatchObject({ keys: ['a'], prefixes: ['b/'], NextMarker: 'b/', IsTruncated: true });
    for (const Marker of ['b/', 'b/1', 'b/anything']) {
      expect(await list(bucket, { Delimiter: '/', Marker })).toMatchObject({ keys: ['c'], prefixes: ['d/'] });
    }
  });

  it('answers 404 for no bucket and 403 to strangers', async () => {
    await expect(list(service.freeName())).rejects.toEqual(s3Error('NoSuchBucket', 404));
    const request = new ListObjectsCommand({ Bucket: await service.bucket() });
    await expect(service.stranger.send(request)).rejects.toEqual(s3Error('AccessDenied', 403));
  });
});
