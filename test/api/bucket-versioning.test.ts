import { GetBucketVersioningCommand, PutBucketVersioningCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { put, setVersioning, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

async function versioning(bucket: string): Promise<{ Status: string | undefined; MFADelete: string | undefined }> {
  const { Status, MFADelete } = await service.client.send(new GetBucketVersioningCommand({ Bucket: bucket }));
  return { Status, MFADelete };
}

/**
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketVersioning.html and
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketVersioning.html
 */
describe('PutBucketVersioning and GetBucketVersioning', () => {
  it('say nothing of a bucket that never had versioning', async () => {
    expect(await versioning(await service.bucket())).toEqual({ Status: undefined, MFADelete: undefined });
  });

  it('enable, suspend and enable again', async () => {
    const bucket = await service.bucket();
    for (const status of ['Enabled', 'Enabled', 'Suspended', 'Suspended', 'Enabled'] as const) {
      await setVersioning(service.client, bucket, status);
      expect(await versioning(bucket)).toEqual({ Status: status, MFADelete: 'Disabled' });
    }
  });

  it('suspend what was never enabled', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Suspended');
    expect(await versioning(bucket)).toMatchObject({ Status: 'Suspended' });
    expect((await put(service.client, bucket, 'key')).VersionId).toBe('null');
  });

  it('change nothing about the objects that are there', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key');
    const before = await versionsOf(service.client, bucket);
    for (const status of ['Enabled', 'Suspended'] as const) await setVersioning(service.client, bucket, status);
    expect(await versionsOf(service.client, bucket)).toEqual(before);
  });

  it('hold for the very next write', async () => {
    const bucket = await service.bucket();
    for (let round = 0; round < 5; round++) {
      await setVersioning(service.client, bucket, 'Enabled');
      expect((await put(service.client, bucket, 'key')).VersionId).not.toBe('null');
      await setVersioning(service.client, bucket, 'Suspended');
      expect((await put(service.client, bucket, 'key')).VersionId).toBe('null');
    }
    expect(await versionsOf(service.client, bucket)).toHaveLength(6);
  });

  it('refuse other states, and deletion that needs a second factor', async () => {
    const bucket = await service.bucket();
    const put = (VersioningConfiguration: object): Promise<unknown> =>
      service.client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }));
    await expect(put({ Status: 'Off' })).rejects.toEqual(s3Error('MalformedXML', 400));
    await expect(put({ Status: 'enabled' })).rejects.toEqual(s3Error('MalformedXML', 400));
    await expect(put({})).rejects.toEqual(s3Error('MalformedXML', 400));
    await expect(put({ Status: 'Enabled', MFADelete: 'Enabled' })).rejects.toEqual(s3Error('NotImplemented', 501));
    expect(await versioning(bucket)).toMatchObject({ Status: undefined });
    await put({ Status: 'Enabled', MFADelete: 'Disabled' });
    expect(await versioning(bucket)).toMatchObject({ Status: 'Enabled' });
  });

  it('answer 404 for no bucket and 403 to strangers', async () => {
    const free = service.freeName();
    await expect(versioning(free)).rejects.toEqual(s3Error('NoSuchBucket', 404));
    await expect(setVersioning(service.client, free, 'Enabled')).rejects.toEqual(s3Error('NoSuchBucket', 404));
    const bucket = await service.bucket();
    await expect(setVersioning(service.stranger, bucket, 'Enabled')).rejects.toEqual(s3Error('AccessDenied', 403));
    const look = service.stranger.send(new GetBucketVersioningCommand({ Bucket: bucket }));
    await expect(look).rejects.toEqual(s3Error('AccessDenied', 403));
  });
});
