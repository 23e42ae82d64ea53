import {
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutObjectTaggingCommand,
  type LifecycleRule,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { put, putAll, read, setVersioning, versionsOf, type ListedVersion } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { eventually } from '../support/runs/eventually.ts';
import { TestUpload } from '../support/storage/uploads.ts';

/** Long enough for a slow machine to check objects that are not due yet. */
const daySeconds = 3;
const service = serviceUnderTest({ env: { STILLAGE_LIFECYCLE_DAY_SECONDS: String(daySeconds) } });

async function putRules(bucket: string, ...rules: Partial<LifecycleRule>[]): Promise<void> {
  const filled = rules.map((rule) => ({ Status: 'Enabled' as const, Filter: { Prefix: '' }, ...rule }));
  const configuration = { Bucket: bucket, LifecycleConfiguration: { Rules: filled as LifecycleRule[] } };
  await service.client.send(new PutBucketLifecycleConfigurationCommand(configuration));
}

async function listed(bucket: string): Promise<readonly string[]> {
  return (await versionsOf(service.client, bucket)).map(shown).sort();
}

function shown({ key, isLatest, isMarker, id }: ListedVersion): string {
  const what = isMarker ? 'marker' : 'object';
  return `${key} ${isLatest ? 'current' : 'older'} ${id === 'null' ? 'null ' : ''}${what}`;
}

/** A pass has been over all buckets since: an object that was due when it was put is gone. */
async function anotherPass(): Promise<void> {
  const bucket = await service.lastingBucket('witness');
  await putRules(bucket, { Expiration: { Date: new Date('2020-01-01') } });
  for (let round = 0; round < 2; round += 1) {
    await put(service.client, bucket, 'witness');
    await eventually(async () => expect(await listed(bucket)).toEqual([]));
  }
}

describe.concurrent('with a day of a few seconds', () => {
  it('a header tells of the days that are in force', async ({ expect }) => {
    const bucket = await service.lastingBucket();
    await putRules(bucket, { Expiration: { Days: 1 } });
    const { Expiration } = await put(service.client, bucket, 'key');
    expect(Date.parse(/expiry-date="([^"]+)"/.exec(Expiration!)![1]!) - Date.now()).toBeLessThan(3_600_000);
  });

  it('an unversioned object is gone for good when it is so many days old', async ({ expect }) => {
    const bucket = await service.lastingBucket();
    await putRules(bucket, { Filter: { Prefix: 'logs/' }, Expiration: { Days: 1 } });
    await putAll(service.client, bucket, ['logs/2', 'other', 'log', 'logs0']);
    await put(service.client, bucket, 'logs/1');
    await expect
      .poll(() => listed(bucket))
      .toEqual(['log current null object', 'logs0 current null object', 'other current null object']);
    expect(await read(service.client, bucket, 'other')).toBe('');
  });

  it('an object in a versioned bucket gets a delete marker; older versions and markers go in their time', async ({
    expect,
  }) => {
    const bucket = await service.lastingBucket();
    await put(service.client, bucket, 'key', 'null version');
    await setVersioning(service.client, bucket, 'Enabled');
    await put(service.client, bucket, 'key', 'named version');
    await putRules(bucket, { ID: 'expire', Expiration: { Days: 1 } });
    await expect
      .poll(() => listed(bucket))
      .toEqual(['key current marker', 'key older null object', 'key older object']);
    await anotherPass();
    expect(await listed(bucket)).toEqual(['key current marker', 'key older null object', 'key older object']);
    await putRules(bucket, { ID: 'older', NoncurrentVersionExpiration: { NoncurrentDays: 1 } });
    await expect.poll(() => listed(bucket)).toEqual(['key current marker']);
    await anotherPass();
    expect(await listed(bucket)).toEqual(['key current marker']);
    await putRules(bucket, { ID: 'marker', Expiration: { ExpiredObjectDeleteMarker: true } });
    await expect.poll(() => listed(bucket)).toEqual([]);
  });

  /** https://docs.aws.amazon.com/AmazonS3/latest/userguide/intro-lifecycle-rules.html: "expired object delete markers" */
  it('a delete marker without other versions goes by Days too; one that hides versions stays until they are gone', async ({
    expect,
  }) => {
    const bucket = await service.lastingBucket();
    await setVersioning(service.client, bucket, 'Enabled');
    await put(service.client, bucket, 'hidden');
    for (const Key of ['hidden', 'alone', 'other alone'])
      await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
    const expire = { ID: 'expire', Filter: { Prefix: '' }, Expiration: { Days: 1 } };
    const spared = { ID: 'spared', Filter: { Prefix: 'other' }, Expiration: { Days: 1000 } };
    await putRules(
      bucket,
      { ...expire, Filter: { Prefix: 'a' } },
      { ...expire, ID: 'h', Filter: { Prefix: 'h' } },
      spared,
    );
    const kept = ['hidden current marker', 'other alone current marker'];
    await expect.poll(() => listed(bucket)).toEqual([kept[0], 'hidden older object', kept[1]]);
    await anotherPass();
    expect(await listed(bucket)).toEqual([kept[0], 'hidden older object', kept[1]]);
    await putRules(bucket, { ...expire, Filter: { Prefix: 'h' }, NoncurrentVersionExpiration: { NoncurrentDays: 1 } });
    await expect.poll(() => listed(bucket)).toEqual([kept[1]]);
  });

  it('an object in a suspended bucket is replaced by a null marker; named versions stay', async ({ expect }) => {
    const bucket = await service.lastingBucket();
    await setVersioning(service.client, bucket, 'Enabled');
    for (const key of ['both', 'named']) await put(service.client, bucket, key, 'named version');
    await setVersioning(service.client, bucket, 'Suspended');
    for (const key of ['both', 'null']) await put(service.client, bucket, key, 'null version');
    await putRules(bucket, { Expiration: { Days: 1 } });
    await expect
      .poll(() => listed(bucket))
      .toEqual([
        'both current null marker',
        'both older object',
        'named current null marker',
        'named older object',
        'null current null marker',
      ]);
  });

  it('the newest non-current versions stay', async ({ expect }) => {
    const bucket = await service.lastingBucket();
    await setVersioning(service.client, bucket, 'Enabled');
    for (const body of ['1', '2', '3', '4', '5']) await put(service.client, bucket, 'key', body);
    await putRules(bucket, { NoncurrentVersionExpiration: { NoncurrentDays: 1, NewerNoncurrentVersions: 2 } });
    await expect.poll(() => listed(bucket)).toEqual(['key current object', 'key older object', 'key older object']);
    await anotherPass();
    const left = await versionsOf(service.client, bucket);
    const bodies = await Promise.all(left.map(({ id }) => read(service.client, bucket, 'key', id)));
    expect(bodies).toEqual(['5', '4', '3']);
  });

  it('a filter spares what it does not find', async ({ expect }) => {
    const bucket = await service.lastingBucket();
    await putRules(
      bucket,
      {
        ID: 'and',
        Filter: { And: { Prefix: 'a', Tags: [{ Key: 'k', Value: 'v' }], ObjectSizeGreaterThan: 2 } },
        Expiration: { Days: 1 },
      },
      { ID: 'small', Filter: { ObjectSizeLessThan: 1 }, Expiration: { Days: 1 } },
      { ID: 'off', Status: 'Disabled', Expiration: { Days: 1 } },
      { ID: 'later', Expiration: { Days: 1000 } },
    );
    const tagged = { Tagging: 'k=v' };
    const metadata = { Metadata: { long: 'x'.repeat(1500) } };
    await put(service.client, bucket, 'a gone', '123', tagged);
    await put(service.client, bucket, 'a gone with metadata', '123', { ...tagged, ...metadata });
    await put(service.client, bucket, 'a small', '12', tagged);
    await put(service.client, bucket, 'a untagged', '123');
    await put(service.client, bucket, 'a other', '123', { Tagging: 'k=w', ...metadata });
    await put(service.client, bucket, 'b', '123', tagged);
    await put(service.client, bucket, 'c empty gone', '');
    await put(service.client, bucket, 'a tag later', '123');
    const kept = ['a other', 'a small', 'a untagged', 'b'].map((key) => `${key} current null object`);
    await expect.poll(() => listed(bucket)).toHaveLength(5);
    await service.client.send(
      new PutObjectTaggingCommand({
        Bucket: bucket,
        Key: 'a tag later',
        Tagging: { TagSet: [{ Key: 'k', Value: 'v' }] },
      }),
    );
    await expect.poll(() => listed(bucket)).toEqual(kept);
    await anotherPass();
    expect(await listed(bucket)).toEqual(kept);
  });

  it('an upload that stays open is aborted', async ({ expect }) => {
    const bucket = await service.lastingBucket();
    const doomed = await TestUpload.begin(service.client, bucket, 'big/file');
    await doomed.part(1, 'part');
    const other = await TestUpload.begin(service.client, bucket, 'small/file');
    const open = async (): Promise<unknown> =>
      (await service.client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads?.map(({ Key }) => Key);
    expect(await open()).toEqual(['big/file', 'small/file']);
    await putRules(bucket, {
      Filter: { Prefix: 'big/' },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
    });
    await expect.poll(open).toEqual(['small/file']);
    await expect(doomed.part(2, 'late')).rejects.toMatchObject({ name: 'NoSuchUpload' });
    await other.complete([await other.part(1, 'part')]);
  });
});
