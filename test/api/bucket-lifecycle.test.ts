import {
  CreateMultipartUploadCommand,
  DeleteBucketLifecycleCommand,
  GetBucketLifecycleConfigurationCommand,
  ListPartsCommand,
  PutBucketLifecycleConfigurationCommand,
  type GetBucketLifecycleConfigurationCommandOutput,
  type LifecycleRule,
} from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectError, s3Error } from '../support/clients/expect-error.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

async function putRules(bucket: string, ...rules: LifecycleRule[]): Promise<void> {
  const configuration = { Bucket: bucket, LifecycleConfiguration: { Rules: rules } };
  await service.client.send(new PutBucketLifecycleConfigurationCommand(configuration));
}

async function configurationOf(bucket: string): Promise<GetBucketLifecycleConfigurationCommandOutput> {
  return service.client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }));
}

const rule = (more: Partial<LifecycleRule> = {}): LifecycleRule => ({
  ID: 'rule',
  Status: 'Enabled',
  Filter: { Prefix: '' },
  Expiration: { Days: 30 },
  ...more,
});

/**
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketLifecycleConfiguration.html,
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLifecycleConfiguration.html and
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketLifecycle.html
 */
describe('PutBucketLifecycleConfiguration, GetBucketLifecycleConfiguration and DeleteBucketLifecycle', () => {
  it('is kept, replaced as a whole, and taken away', async () => {
    const bucket = await service.bucket();
    await expect(configurationOf(bucket)).rejects.toEqual(s3Error('NoSuchLifecycleConfiguration', 404));
    await putRules(bucket, rule({ ID: 'one' }), rule({ ID: 'two', Status: 'Disabled' }));
    expect((await configurationOf(bucket)).Rules).toEqual([
      rule({ ID: 'one' }),
      rule({ ID: 'two', Status: 'Disabled' }),
    ]);
    await putRules(bucket, rule({ ID: 'two', Status: 'Enabled' }));
    expect((await configurationOf(bucket)).Rules).toEqual([rule({ ID: 'two' })]);
    const gone = await service.client.send(new DeleteBucketLifecycleCommand({ Bucket: bucket }));
    expect(gone.$metadata.httpStatusCode).toBe(204);
    await expect(configurationOf(bucket)).rejects.toEqual(s3Error('NoSuchLifecycleConfiguration', 404));
    await service.client.send(new DeleteBucketLifecycleCommand({ Bucket: bucket }));
  });

  it('comes back in the form in which it was sent', async () => {
    const bucket = await service.bucket();
    const tags = [
      { Key: 'a', Value: '1' },
      { Key: 'b', Value: '' },
    ];
    const rules: LifecycleRule[] = [
      { ID: 'old form', Status: 'Enabled', Prefix: 'logs/', Expiration: { Date: new Date('2030-01-02') } },
      rule({ ID: 'everything', Filter: {}, Expiration: { ExpiredObjectDeleteMarker: true } }),
      rule({ ID: 'tag', Filter: { Tag: tags[0]! } }),
      rule({ ID: 'larger', Filter: { ObjectSizeGreaterThan: 0 } }),
      rule({ ID: 'smaller', Filter: { ObjectSizeLessThan: 1024 } }),
      rule({
        ID: 'and',
        Filter: { And: { Prefix: 'a & b', Tags: tags, ObjectSizeGreaterThan: 1, ObjectSizeLessThan: 2 } },
        NoncurrentVersionExpiration: { NoncurrentDays: 3, NewerNoncurrentVersions: 2 },
      }),
      {
        ID: 'uploads',
        Status: 'Disabled',
        Filter: { Prefix: 'ü/' },
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 },
      },
    ];
    await putRules(bucket, ...rules);
    expect((await configurationOf(bucket)).Rules).toEqual(rules);
  });

  it('names its rules, if nobody else does', async () => {
    const bucket = await service.bucket();
    const { ID: _, ...nameless } = rule();
    await putRules(bucket, nameless, nameless);
    const ids = (await configurationOf(bucket)).Rules!.map(({ ID }) => ID);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[\w-]{1,255}$/);
  });

  it('keeps what Terraform waits for', async () => {
    const bucket = await service.bucket();
    await putRules(bucket, rule());
    expect((await configurationOf(bucket)).TransitionDefaultMinimumObjectSize).toBe('all_storage_classes_128K');
    const put = await service.client.send(
      new PutBucketLifecycleConfigurationCommand({
        Bucket: bucket,
        LifecycleConfiguration: { Rules: [rule()] },
        TransitionDefaultMinimumObjectSize: 'varies_by_storage_class',
      }),
    );
    expect(put.TransitionDefaultMinimumObjectSize).toBe('varies_by_storage_class');
    expect((await configurationOf(bucket)).TransitionDefaultMinimumObjectSize).toBe('varies_by_storage_class');
    const other = new PutBucketLifecycleConfigurationCommand({
      Bucket: bucket,
      LifecycleConfiguration: { Rules: [rule()] },
      TransitionDefaultMinimumObjectSize: 'other' as 'varies_by_storage_class',
    });
    await expect(service.client.send(other)).rejects.toEqual(s3Error('InvalidArgument', 400));
  });

  it('is not changed by one that is refused', async () => {
    const bucket = await service.bucket();
    await putRules(bucket, rule());
    const refused: readonly (readonly [string, number, LifecycleRule[]])[] = [
      ['InvalidArgument', 400, [rule(), rule()]],
      ['InvalidArgument', 400, [rule({ ID: 'i'.repeat(256) })]],
      ['InvalidArgument', 400, [rule({ Expiration: { Days: 0 } })]],
      ['InvalidArgument', 400, [rule({ Expiration: { Date: new Date('2030-01-02T03:00:00Z') } })]],
      ['InvalidRequest', 400, [{ ID: 'idle', Status: 'Enabled', Filter: {} }]],
      ['MalformedXML', 400, [rule({ Status: 'enabled' as 'Enabled' })]],
      ['MalformedXML', 400, [rule({ Expiration: { Days: 1, ExpiredObjectDeleteMarker: true } })]],
      ['MalformedXML', 400, [rule({ Filter: { Prefix: 'a', Tag: { Key: 'k', Value: 'v' } } })]],
      ['MalformedXML', 400, [rule({ Filter: { ObjectSizeGreaterThan: 1, ObjectSizeLessThan: 9 } })]],
      ['MalformedXML', 400, []],
      ['NotImplemented', 501, [rule({ Transitions: [{ Days: 1, StorageClass: 'GLACIER' }] })]],
    ];
    for (const [code, status, rules] of refused) {
      await expect(putRules(bucket, ...rules)).rejects.toEqual(s3Error(code, status));
    }
    expect((await configurationOf(bucket)).Rules).toEqual([rule()]);
  });

  it('is refused with a text where its conditions belong, which would apply to the whole bucket', async () => {
    const bucket = await service.bucket();
    const rule = '<Filter>logs/</Filter><Status>Enabled</Status><Expiration><Days>1</Days></Expiration>';
    const body = `<LifecycleConfiguration><Rule>${rule}</Rule></LifecycleConfiguration>`;
    expectError(
      await service.send({ method: 'PUT', path: `/${bucket}`, query: 'lifecycle', body }),
      400,
      'MalformedXML',
    );
  });

  it('must arrive as it was sent', async () => {
    const bucket = await service.bucket();
    const body = '<LifecycleConfiguration><Rule><Prefix/><Status>Enabled</Status></Rule></LifecycleConfiguration>';
    const md5 = createHash('md5').update(`${body} `).digest('base64');
    const request = { method: 'PUT', path: `/${bucket}`, query: 'lifecycle', body };
    expectError(await service.send({ ...request, headers: { 'content-md5': md5 } }), 400, 'BadDigest');
    const large = { ...request, body: body.padEnd(1024 * 1024 + 1) };
    expectError(await service.send(large), 400, 'MaxMessageLengthExceeded');
    await expect(configurationOf(bucket)).rejects.toEqual(s3Error('NoSuchLifecycleConfiguration', 404));
  });

  it('tells of an open upload when it will be aborted', async () => {
    const bucket = await service.bucket();
    const after = (days: number, prefix: string, id: string): LifecycleRule => ({
      ID: id,
      Status: 'Enabled',
      Filter: { Prefix: prefix },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: days },
    });
    await putRules(bucket, after(9, '', 'late'), after(3, 'a/', 'early, ü'), rule({ Filter: { Prefix: 'b/' } }));
    const day = 24 * 60 * 60 * 1000;
    for (const [key, days, id] of [
      ['a/key', 3, 'early, ü'],
      ['b/key', 9, 'late'],
    ] as const) {
      const before = Date.now();
      const target = { Bucket: bucket, Key: key };
      const created = await service.client.send(new CreateMultipartUploadCommand(target));
      expect(created.AbortRuleId).toBe(encodeURIComponent(id));
      expect(created.AbortDate!.getTime() % day).toBe(0);
      expect(created.AbortDate!.getTime()).toBeGreaterThanOrEqual(before + days * day);
      expect(created.AbortDate!.getTime()).toBeLessThanOrEqual(Date.now() + (days + 1) * day);
      const listed = await service.client.send(new ListPartsCommand({ ...target, UploadId: created.UploadId }));
      expect([listed.AbortDate, listed.AbortRuleId]).toEqual([created.AbortDate, created.AbortRuleId]);
    }
    await putRules(bucket, rule());
    const spared = await service.client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'key' }));
    expect([spared.AbortDate, spared.AbortRuleId]).toEqual([undefined, undefined]);
  });

  it('answers 200 without a body to PUT', async () => {
    const bucket = await service.bucket();
    const body =
      '<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Rule><Prefix/>' +
      '<Status>Enabled</Status><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>';
    const answer = await service.send({ method: 'PUT', path: `/${bucket}`, query: 'lifecycle', body });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.text).toBe('');
    expect(answer.header('x-amz-transition-default-minimum-object-size')).toBe('all_storage_classes_128K');
  });

  it('is refused to everybody else', async () => {
    const bucket = await service.bucket();
    await putRules(bucket, rule());
    const configuration = { Bucket: bucket, LifecycleConfiguration: { Rules: [rule()] } };
    for (const command of [
      new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }),
      new PutBucketLifecycleConfigurationCommand(configuration),
      new DeleteBucketLifecycleCommand({ Bucket: bucket }),
    ]) {
      await expect(service.stranger.send(command)).rejects.toEqual(s3Error('AccessDenied', 403));
    }
    await expect(configurationOf('no-such-bucket-anywhere')).rejects.toEqual(s3Error('NoSuchBucket', 404));
  });
});
