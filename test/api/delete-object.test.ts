import { DeleteObjectCommand, type DeleteObjectCommandInput, type DeleteObjectCommandOutput } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { expectError, s3Error } from '../support/clients/expect-error.ts';
import { md5Tag, put, read, setVersioning, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

async function del(
  bucket: string,
  more: Partial<DeleteObjectCommandInput> = {},
): Promise<Omit<DeleteObjectCommandOutput, '$metadata'> & { status: number }> {
  const { $metadata, ...output } = await service.client.send(
    new DeleteObjectCommand({ Bucket: bucket, Key: 'key', ...more }),
  );
  return { ...output, status: $metadata.httpStatusCode! };
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html */
describe('DeleteObject', () => {
  it('removes an object and says nothing of versions', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    expect(await del(bucket)).toEqual({ status: 204 });
    await expect(read(service.client, bucket, 'key')).rejects.toEqual(s3Error('NoSuchKey', 404));
    expect(await versionsOf(service.client, bucket)).toEqual([]);
  });

  it('succeeds if there is nothing', async () => {
    const bucket = await service.bucket();
    expect(await del(bucket)).toEqual({ status: 204 });
    expect(await del(bucket, { VersionId: 'null' })).toEqual({ status: 204 });
    expect(await del(bucket, { VersionId: 'x'.repeat(32) })).toMatchObject({ status: 204 });
    expect(await versionsOf(service.client, bucket)).toEqual([]);
  });

  it('removes the null version of a bucket without versions, and nothing by another id', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    await del(bucket, { VersionId: 'x'.repeat(32) });
    expect(await read(service.client, bucket, 'key')).toBe('content');
    expect(await del(bucket, { VersionId: 'null' })).toEqual({ status: 204 });
    expect(await versionsOf(service.client, bucket)).toEqual([]);
  });

  it('adds a delete marker while versioning is enabled, whether the key existed or not', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'key', 'content');
    const marker = await del(bucket);
    expect(marker).toEqual({ status: 204, DeleteMarker: true, VersionId: marker.VersionId });
    expect(marker.VersionId).toMatch(/^[A-Za-z0-9._-]{32}$/);
    expect(await versionsOf(service.client, bucket)).toEqual([
      { key: 'key', id: VersionId, isLatest: false, isMarker: false },
      { key: 'key', id: marker.VersionId, isLatest: true, isMarker: true },
    ]);
    expect(await read(service.client, bucket, 'key', VersionId)).toBe('content');
    expect(await del(bucket, { Key: 'never' })).toMatchObject({ status: 204, DeleteMarker: true });
    expect((await del(bucket)).VersionId).not.toBe(marker.VersionId);
  });

  it('removes exactly the version asked for; the next newest becomes the latest', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const ids: string[] = [];
    for (const content of ['1', '2', '3']) ids.push((await put(service.client, bucket, 'key', content)).VersionId!);
    expect(await del(bucket, { VersionId: ids[1]! })).toEqual({ status: 204, VersionId: ids[1] });
    expect(await read(service.client, bucket, 'key')).toBe('3');
    expect(await del(bucket, { VersionId: ids[2]! })).toEqual({ status: 204, VersionId: ids[2] });
    expect(await read(service.client, bucket, 'key')).toBe('1');
    await expect(read(service.client, bucket, 'key', ids[2])).rejects.toEqual(s3Error('NoSuchKey', 404));
    expect(await versionsOf(service.client, bucket)).toEqual([
      { key: 'key', id: ids[0], isLatest: true, isMarker: false },
    ]);
  });

  it('undeletes by removing the marker', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    await put(service.client, bucket, 'key', 'content');
    const { VersionId } = await del(bucket);
    expect(await del(bucket, { VersionId: VersionId! })).toEqual({ status: 204, DeleteMarker: true, VersionId });
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });

  it('puts a null marker in the place of the null version while versioning is suspended', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'key', 'kept');
    await setVersioning(service.client, bucket, 'Suspended');
    await put(service.client, bucket, 'key', 'replaced by the marker');
    const markers = { status: 204, DeleteMarker: true, VersionId: 'null' };
    const rows = [
      { key: 'key', id: VersionId, isLatest: false, isMarker: false },
      { key: 'key', id: 'null', isLatest: true, isMarker: true },
    ];
    expect(await del(bucket)).toEqual(markers);
    expect(await versionsOf(service.client, bucket)).toEqual(rows);
    expect(await del(bucket)).toEqual(markers);
    expect(await versionsOf(service.client, bucket)).toEqual(rows);
    await put(service.client, bucket, 'key', 'back');
    expect(await versionsOf(service.client, bucket)).toEqual([
      { key: 'key', id: 'null', isLatest: true, isMarker: false },
      { key: 'key', id: VersionId, isLatest: false, isMarker: false },
    ]);
  });

  it('deletes only what matches', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    await expect(del(bucket, { IfMatch: md5Tag('other') })).rejects.toEqual(s3Error('PreconditionFailed', 412));
    await expect(del(bucket, { IfMatchSize: 8 })).rejects.toEqual(s3Error('PreconditionFailed', 412));
    const past = new Date('2020-01-01T00:00:00Z');
    await expect(del(bucket, { IfMatchLastModifiedTime: past })).rejects.toEqual(s3Error('PreconditionFailed', 412));
    expect(await read(service.client, bucket, 'key')).toBe('content');
    expect(await del(bucket, { IfMatch: md5Tag('content'), IfMatchSize: 7 })).toEqual({ status: 204 });
    await expect(del(bucket, { IfMatch: md5Tag('content') })).rejects.toEqual(s3Error('NoSuchKey', 404));
  });

  it('succeeds for what cannot be the id of a version, and deletes nothing', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    for (const VersionId of ['nonexistent', 'no id\r\nx-injected: 1', 'v'.repeat(2000)])
      expect(await del(bucket, { VersionId })).toEqual({ status: 204 });
    await setVersioning(service.client, bucket, 'Enabled');
    expect(await del(bucket, { VersionId: 'nonexistent' })).toEqual({ status: 204 });
    expect(await read(service.client, bucket, 'key')).toBe('content');
    const strange = service.stranger.send(
      new DeleteObjectCommand({ Bucket: bucket, Key: 'key', VersionId: 'nonexistent' }),
    );
    await expect(strange).rejects.toEqual(s3Error('AccessDenied', 403));
  });

  it('refuses an empty version id, a missing bucket, and strangers', async () => {
    const bucket = await service.bucket();
    const empty = await service.send({ method: 'DELETE', path: `/${bucket}/key`, query: 'versionId=' });
    expectError(empty, 400, 'InvalidArgument');
    await expect(del(service.freeName())).rejects.toEqual(s3Error('NoSuchBucket', 404));
    const strange = service.stranger.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }));
    await expect(strange).rejects.toEqual(s3Error('AccessDenied', 403));
  });
});
