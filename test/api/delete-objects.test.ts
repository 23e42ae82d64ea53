import {
  DeleteObjectsCommand,
  ListObjectsV2Command,
  type DeleteObjectsCommandOutput,
  type ObjectIdentifier,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { md5Tag, put, read, setVersioning, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

function del(bucket: string, objects: ObjectIdentifier[], quiet?: boolean): Promise<DeleteObjectsCommandOutput> {
  return service.client.send(
    new DeleteObjectsCommand({
      Bucket: bucket,
      Delete: { Objects: objects, ...(quiet !== undefined && { Quiet: quiet }) },
    }),
  );
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html */
describe('DeleteObjects', () => {
  it('deletes many keys and reports each, in the order of the request, missing ones too', async () => {
    const bucket = await service.bucket();
    for (const key of ['a', 'b', 'kept']) await put(service.client, bucket, key);
    const { Deleted, Errors } = await del(bucket, [{ Key: 'b' }, { Key: 'never' }, { Key: 'a' }]);
    expect(Deleted).toEqual([{ Key: 'b' }, { Key: 'never' }, { Key: 'a' }]);
    expect(Errors).toBeUndefined();
    const { Contents } = await service.client.send(new ListObjectsV2Command({ Bucket: bucket }));
    expect(Contents!.map(({ Key }) => Key)).toEqual(['kept']);
  });

  it('deletes a thousand at once, and no more', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key-7');
    const keys = Array.from({ length: 1000 }, (_, n) => ({ Key: `key-${n}` }));
    expect((await del(bucket, keys)).Deleted).toHaveLength(1000);
    expect(await versionsOf(service.client, bucket)).toEqual([]);
    await expect(del(bucket, [...keys, { Key: 'one more' }])).rejects.toEqual(s3Error('MalformedXML', 400));
    await expect(del(bucket, [])).rejects.toEqual(s3Error('MalformedXML', 400));
  });

  it('deletes what an SDK names, control characters and all', async () => {
    const bucket = await service.bucket();
    const keys = ['a\u0001', 'b\u001f\u007f', '\ta\nb\rc', '\u0085\u2028', '<&>"\'', ' ', 'é😀'];
    for (const key of [...keys, 'a']) await put(service.client, bucket, key);
    const { Deleted, Errors } = await del(
      bucket,
      keys.map((Key) => ({ Key })),
    );
    expect(Deleted!.map(({ Key }) => Key)).toEqual(keys);
    expect(Errors).toBeUndefined();
    expect((await versionsOf(service.client, bucket)).map(({ key }) => key)).toEqual(['a']);
  });

  it('reports only failures if it is to be quiet', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'a', 'content');
    await put(service.client, bucket, 'b', 'content');
    const { Deleted, Errors } = await del(bucket, [{ Key: 'a' }, { Key: 'b', ETag: md5Tag('other') }], true);
    expect(Deleted).toBeUndefined();
    expect(Errors).toEqual([{ Key: 'b', Code: 'PreconditionFailed', Message: expect.any(String) as string }]);
    expect((await versionsOf(service.client, bucket)).map(({ key }) => key)).toEqual(['b']);
  });

  it('adds markers and deletes versions as DeleteObject does', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'a', 'content');
    const first = (await del(bucket, [{ Key: 'a' }, { Key: 'b' }])).Deleted!;
    expect(first).toEqual([
      { Key: 'a', DeleteMarker: true, DeleteMarkerVersionId: first[0]!.DeleteMarkerVersionId },
      { Key: 'b', DeleteMarker: true, DeleteMarkerVersionId: first[1]!.DeleteMarkerVersionId },
    ]);
    expect(first[0]!.DeleteMarkerVersionId).toMatch(/^[A-Za-z0-9._-]{32}$/);

    const marker = first[0]!.DeleteMarkerVersionId!;
    expect(
      (
        await del(bucket, [
          { Key: 'a', VersionId: marker },
          { Key: 'a', VersionId },
        ])
      ).Deleted,
    ).toEqual([
      { Key: 'a', VersionId: marker, DeleteMarker: true, DeleteMarkerVersionId: marker },
      { Key: 'a', VersionId },
    ]);
    expect((await versionsOf(service.client, bucket)).map(({ key }) => key)).toEqual(['b']);
  });

  it('takes a key twice', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'a');
    expect((await del(bucket, [{ Key: 'a' }, { Key: 'a' }])).Deleted).toEqual([{ Key: 'a' }, { Key: 'a' }]);
  });

  it('deletes an entry only if its conditions hold', async () => {
    const bucket = await service.bucket();
    for (const key of ['a', 'b', 'c', 'd', 'e']) await put(service.client, bucket, key, 'content');
    const { Deleted, Errors } = await del(bucket, [
      { Key: 'a', ETag: md5Tag('content'), Size: 7 },
      { Key: 'b', ETag: '*' },
      { Key: 'c', Size: 8 },
      { Key: 'd', LastModifiedTime: new Date('2020-01-01T00:00:00Z') },
      { Key: 'e', ETag: md5Tag('other') },
      { Key: 'never', ETag: md5Tag('other') },
    ]);
    expect(Deleted!.map(({ Key }) => Key)).toEqual(['a', 'b']);
    expect(Errors!.map(({ Key, Code }) => [Key, Code])).toEqual([
      ['c', 'PreconditionFailed'],
      ['d', 'PreconditionFailed'],
      ['e', 'PreconditionFailed'],
      ['never', 'NoSuchKey'],
    ]);
  });

  it('answers for each key on its own', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'a');
    const { Deleted, Errors } = await del(bucket, [
      { Key: 'k'.repeat(1025) },
      { Key: 'a', VersionId: 'no id' },
      { Key: 'a' },
    ]);
    expect(Deleted).toEqual([{ Key: 'a', VersionId: 'no id' }, { Key: 'a' }]);
    expect(Errors!.map(({ Code }) => Code)).toEqual(['InvalidObjectName']);
  });

  it('denies strangers every key, and finds no bucket where there is none', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'a', 'kept');
    const { Deleted, Errors } = await service.stranger.send(
      new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: [{ Key: 'a' }, { Key: 'b' }] } }),
    );
    expect(Deleted).toBeUndefined();
    expect(Errors!.map(({ Key, Code }) => [Key, Code])).toEqual([
      ['a', 'AccessDenied'],
      ['b', 'AccessDenied'],
    ]);
    expect(await read(service.client, bucket, 'a')).toBe('kept');
    await expect(del(service.freeName(), [{ Key: 'a' }])).rejects.toEqual(s3Error('NoSuchBucket', 404));
  });

  it('takes a request with Content-MD5 as with any checksum', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'a');
    for (const ChecksumAlgorithm of ['SHA256', 'CRC64NVME'] as const) {
      const request = { Bucket: bucket, ChecksumAlgorithm, Delete: { Objects: [{ Key: 'a' }] } };
      expect((await service.client.send(new DeleteObjectsCommand(request))).Deleted).toEqual([{ Key: 'a' }]);
    }
  });
});
