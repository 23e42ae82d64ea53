import {
  CopyObjectCommand,
  GetBucketLifecycleConfigurationCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutBucketLifecycleConfigurationCommand,
  PutObjectTaggingCommand,
  type LifecycleRule,
} from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { describe, expect, it } from 'vitest';
import { put, setVersioning } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { TestUpload } from '../support/storage/uploads.ts';

const service = serviceUnderTest();

async function putRules(bucket: string, ...rules: Partial<LifecycleRule>[]): Promise<void> {
  const filled = rules.map((rule) => ({ Status: 'Enabled' as const, Filter: { Prefix: '' }, ...rule }));
  const configuration = { Bucket: bucket, LifecycleConfiguration: { Rules: filled as LifecycleRule[] } };
  await service.client.send(new PutBucketLifecycleConfigurationCommand(configuration));
}

async function headOf(bucket: string, key: string, versionId?: string): Promise<string | undefined> {
  const command = new HeadObjectCommand({ Bucket: bucket, Key: key, VersionId: versionId });
  return (await service.client.send(command)).Expiration;
}

const day = 24 * 60 * 60 * 1000;

/** The midnight that comes `days` days and the rest of a day after one of the moments between `from` and now. */
function expected(from: number, days: number, id: string): unknown {
  const dates = [from, Date.now()].map((time) => new Date(Math.ceil(time / day + days) * day).toUTCString());
  return expect.toBeOneOf(dates.map((date) => `expiry-date="${date}", rule-id="${id}"`));
}

describe('a rule that is due after all that a date can say', () => {
  const most = 2 ** 31 - 1;

  it.each([
    ['Days', { Expiration: { Days: most } }],
    ['Days, just so many', { Expiration: { Days: 2_913_000 } }],
    ['NoncurrentDays', { NoncurrentVersionExpiration: { NoncurrentDays: most } }],
    ['DaysAfterInitiation', { AbortIncompleteMultipartUpload: { DaysAfterInitiation: most } }],
  ])('is taken and kept, and no header tells of it: %s', async (_, rule) => {
    const bucket = await service.bucket();
    await putRules(bucket, { ID: 'late', ...rule });
    const kept = await service.client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }));
    expect(kept.Rules).toEqual([expect.objectContaining({ ID: 'late', ...rule })]);
    const path = `/${bucket}/key`;
    const answers = [
      await service.send({ method: 'PUT', path, body: 'x' }),
      await service.send({ path }),
      await service.send({ method: 'HEAD', path }),
      await service.send({ method: 'POST', path, query: 'uploads' }),
    ];
    for (const { status, headers } of answers) {
      expect(status).toBe(200);
      expect(headers.filter(([name]) => /^x-amz-(?:expiration|abort-)/.test(name))).toEqual([]);
    }
  });

  it('says when, up to the last day that has a date', async () => {
    const bucket = await service.bucket();
    await putRules(bucket, { ID: 'day', Filter: { Prefix: 'day' }, Expiration: { Date: new Date('9999-12-31') } });
    expect((await put(service.client, bucket, 'day')).Expiration).toBe(
      'expiry-date="Fri, 31 Dec 9999 00:00:00 GMT", rule-id="day"',
    );
  });

  it('does not hide a rule that is due before', async () => {
    const bucket = await service.bucket();
    await putRules(bucket, { ID: 'late', Expiration: { Days: most } }, { ID: 'soon', Expiration: { Days: 3 } });
    const before = Date.now();
    expect((await put(service.client, bucket, 'key')).Expiration).toEqual(expected(before, 3, 'soon'));
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html#API_GetObject_ResponseSyntax */
describe('x-amz-expiration', () => {
  it('is not there without rules, or with rules for others', async () => {
    const bucket = await service.bucket();
    expect((await put(service.client, bucket, 'key')).Expiration).toBeUndefined();
    expect(await headOf(bucket, 'key')).toBeUndefined();
    await putRules(
      bucket,
      { ID: 'disabled', Status: 'Disabled', Expiration: { Days: 1 } },
      { ID: 'elsewhere', Filter: { Prefix: 'logs/' }, Expiration: { Days: 1 } },
      { ID: 'larger', Filter: { ObjectSizeGreaterThan: 10 }, Expiration: { Days: 1 } },
      { ID: 'non-current', NoncurrentVersionExpiration: { NoncurrentDays: 1 } },
    );
    expect((await put(service.client, bucket, 'key')).Expiration).toBeUndefined();
    expect(await headOf(bucket, 'key')).toBeUndefined();
  });

  it('comes with every write and every read', async () => {
    const bucket = await service.bucket();
    await putRules(bucket, { ID: 'my rule/1', Expiration: { Days: 3 } });
    const from = Date.now();
    const field = (): unknown => expected(from, 3, 'my%20rule%2F1');
    expect((await put(service.client, bucket, 'key', 'content')).Expiration).toEqual(field());
    const got = await service.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'key', Range: 'bytes=0-1' }));
    await got.Body!.transformToString();
    expect(got.Expiration).toEqual(field());
    expect(await headOf(bucket, 'key')).toEqual(field());
    expect(await headOf(bucket, 'key', 'null')).toEqual(field());
    const copied = await service.client.send(
      new CopyObjectCommand({ Bucket: bucket, Key: 'copy', CopySource: `${bucket}/key` }),
    );
    expect(copied.Expiration).toEqual(field());
    const upload = await TestUpload.begin(service.client, bucket, 'parts');
    const completed = await upload.complete([await upload.part(1, 'part')]);
    expect(completed.Expiration).toEqual(field());
    const { url, fields } = await createPresignedPost(service.client, { Bucket: bucket, Key: 'posted' });
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', new Blob(['content']));
    const posted = await fetch(url, { method: 'POST', body: form });
    expect(posted.status).toBe(204);
    expect(posted.headers.get('x-amz-expiration')).toEqual(field());
  });

  it('names the earliest of the rules that apply, with the tags the object has now', async () => {
    const bucket = await service.bucket();
    await putRules(
      bucket,
      { ID: 'late', Expiration: { Days: 100 } },
      { ID: 'tag', Filter: { Tag: { Key: 'k', Value: 'v' } }, Expiration: { Days: 10 } },
      {
        ID: 'and',
        Filter: { And: { Prefix: 'a', Tags: [{ Key: 'k', Value: 'v' }], ObjectSizeGreaterThan: 3 } },
        Expiration: { Days: 5 },
      },
      { ID: 'date', Filter: { Prefix: 'dated' }, Expiration: { Date: new Date('2001-02-03') } },
    );
    const from = Date.now();
    expect((await put(service.client, bucket, 'a', '1234')).Expiration).toEqual(expected(from, 100, 'late'));
    const tagged = await put(service.client, bucket, 'a', '1234', { Tagging: 'k=v&other=' });
    expect(tagged.Expiration).toEqual(expected(from, 5, 'and'));
    const small = await put(service.client, bucket, 'a', '123', { Tagging: 'k=v' });
    expect(small.Expiration).toEqual(expected(from, 10, 'tag'));
    const tagging = { TagSet: [{ Key: 'k', Value: 'w' }] };
    await service.client.send(new PutObjectTaggingCommand({ Bucket: bucket, Key: 'a', Tagging: tagging }));
    expect(await headOf(bucket, 'a')).toEqual(expected(from, 100, 'late'));
    const dated = 'expiry-date="Sat, 03 Feb 2001 00:00:00 GMT", rule-id="date"';
    expect((await put(service.client, bucket, 'dated')).Expiration).toBe(dated);
    expect(await headOf(bucket, 'dated')).toBe(dated);
  });

  it('is of current versions only', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    await putRules(bucket, { ID: 'rule', Expiration: { Days: 1 } });
    const from = Date.now();
    const { VersionId: first } = await put(service.client, bucket, 'key', '1');
    const { VersionId: second, Expiration } = await put(service.client, bucket, 'key', '2');
    expect(Expiration).toEqual(expected(from, 1, 'rule'));
    expect(await headOf(bucket, 'key', second)).toEqual(expected(from, 1, 'rule'));
    expect(await headOf(bucket, 'key', first)).toBeUndefined();
  });
});
