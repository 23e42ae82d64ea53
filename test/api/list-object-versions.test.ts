import {
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandInput,
  type ListObjectVersionsCommandOutput,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { md5Tag, put, putAll, setVersioning } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

function list(
  bucket: string,
  more: Partial<ListObjectVersionsCommandInput> = {},
): Promise<ListObjectVersionsCommandOutput> {
  return service.client.send(new ListObjectVersionsCommand({ Bucket: bucket, ...more }));
}

async function versionedBucket(): Promise<string> {
  const bucket = await service.bucket();
  await setVersioning(service.client, bucket, 'Enabled');
  return bucket;
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html */
describe('ListObjectVersions', () => {
  it('lists versions and markers, the newest of each key first', async () => {
    const bucket = await versionedBucket();
    const first = await put(service.client, bucket, 'a', 'first');
    const second = await put(service.client, bucket, 'a', 'second');
    const marker = await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'a' }));
    const other = await put(service.client, bucket, 'b', 'other');

    const page = await list(bucket);
    expect(page).toMatchObject({
      Name: bucket,
      Prefix: '',
      KeyMarker: '',
      VersionIdMarker: '',
      MaxKeys: 1000,
      IsTruncated: false,
    });
    const Owner = { ID: expect.stringMatching(/./) as string, DisplayName: expect.stringMatching(/./) as string };
    const LastModified = expect.any(Date) as Date;
    const checksum = { ChecksumAlgorithm: ['CRC32'], ChecksumType: 'FULL_OBJECT' };
    const version = { StorageClass: 'STANDARD', LastModified, Owner, ...checksum };
    expect(page.Versions).toEqual([
      { ...version, Key: 'a', VersionId: second.VersionId, IsLatest: false, ETag: md5Tag('second'), Size: 6 },
      { ...version, Key: 'a', VersionId: first.VersionId, IsLatest: false, ETag: md5Tag('first'), Size: 5 },
      { ...version, Key: 'b', VersionId: other.VersionId, IsLatest: true, ETag: md5Tag('other'), Size: 5 },
    ]);
    expect(page.DeleteMarkers).toEqual([
      { Key: 'a', VersionId: marker.VersionId, IsLatest: true, LastModified, Owner },
    ]);
  });

  it('lists the objects of a bucket without versioning as null versions', async () => {
    const bucket = await service.bucket();
    await putAll(service.client, bucket, ['a', 'b']);
    const { Versions } = await list(bucket);
    expect(Versions!.map(({ Key, VersionId, IsLatest }) => [Key, VersionId, IsLatest])).toEqual([
      ['a', 'null', true],
      ['b', 'null', true],
    ]);
  });

  it('gives page after page, also within the versions of one key', async () => {
    const bucket = await versionedBucket();
    const ids: string[] = [];
    for (const key of ['a', 'a', 'a', 'b', 'c', 'c']) ids.unshift((await put(service.client, bucket, key)).VersionId!);
    const expected = ['a', 'b', 'c'].flatMap((key) =>
      ids.filter((_, at) => 'ccbaaa'[at] === key).map((id) => `${key} ${id}`),
    );
    for (const MaxKeys of [1, 2, 4]) {
      const found: string[] = [];
      let markers: Partial<ListObjectVersionsCommandInput> = {};
      for (let truncated = true; truncated;) {
        const page = await list(bucket, { MaxKeys, ...markers });
        expect(page.Versions!.length).toBeLessThanOrEqual(MaxKeys);
        found.push(...page.Versions!.map(({ Key, VersionId }) => `${Key} ${VersionId}`));
        truncated = page.IsTruncated!;
        expect(page.NextKeyMarker !== undefined).toBe(truncated);
        markers = { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker };
      }
      expect(found).toEqual(expected);
    }
  });

  it('starts after all versions of the key marker, or after one of them', async () => {
    const bucket = await versionedBucket();
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.unshift((await put(service.client, bucket, 'a')).VersionId!);
    const { VersionId } = await put(service.client, bucket, 'b');
    const idsOf = ({ Versions = [] }: ListObjectVersionsCommandOutput) => Versions.map(({ VersionId: id }) => id);
    expect(idsOf(await list(bucket, { KeyMarker: 'a' }))).toEqual([VersionId]);
    const page = await list(bucket, { KeyMarker: 'a', VersionIdMarker: ids[0]! });
    expect(idsOf(page)).toEqual([ids[1], ids[2], VersionId]);
    expect(page).toMatchObject({ KeyMarker: 'a', VersionIdMarker: ids[0] });
  });

  it('filters by prefix and rolls up at the delimiter, deleted keys too', async () => {
    const bucket = await versionedBucket();
    await putAll(service.client, bucket, ['a/1', 'a/2', 'b', 'c/1']);
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'c/1' }));
    const page = await list(bucket, { Delimiter: '/' });
    expect(page.CommonPrefixes).toEqual([{ Prefix: 'a/' }, { Prefix: 'c/' }]);
    expect(page.Versions!.map(({ Key }) => Key)).toEqual(['b']);
    expect(page.Delimiter).toBe('/');
    const some = await list(bucket, { Prefix: 'a/' });
    expect(some.Versions!.map(({ Key }) => Key)).toEqual(['a/1', 'a/2']);
    expect(some.Prefix).toBe('a/');
  });

  it('refuses a version marker without a key marker, or one that can be none', async () => {
    const bucket = await versionedBucket();
    const refusal = s3Error('InvalidArgument', 400);
    await expect(list(bucket, { VersionIdMarker: 'x'.repeat(32) })).rejects.toEqual(refusal);
    await expect(list(bucket, { KeyMarker: 'a', VersionIdMarker: 'no id' })).rejects.toEqual(refusal);
  });

  it('answers 404 for no bucket and 403 to strangers', async () => {
    await expect(list(service.freeName())).rejects.toEqual(s3Error('NoSuchBucket', 404));
    const request = new ListObjectVersionsCommand({ Bucket: await service.bucket() });
    await expect(service.stranger.send(request)).rejects.toEqual(s3Error('AccessDenied', 403));
  });
});
