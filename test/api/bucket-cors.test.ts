import { DeleteBucketCorsCommand, GetBucketCorsCommand, PutBucketCorsCommand, type CORSRule } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

async function putRules(bucket: string, ...rules: CORSRule[]): Promise<void> {
  await service.client.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules: rules } }));
}

async function rulesOf(bucket: string): Promise<CORSRule[] | undefined> {
  return (await service.client.send(new GetBucketCorsCommand({ Bucket: bucket }))).CORSRules;
}

const plain: CORSRule = { AllowedOrigins: ['*'], AllowedMethods: ['GET'] };

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketCors.html, and the Preflight that reads it */
describe('the CORS rules of a bucket', () => {
  it('are kept, replaced and taken away', async () => {
    const bucket = await service.bucket();
    await expect(rulesOf(bucket)).rejects.toEqual(s3Error('NoSuchCORSConfiguration', 404));
    const rules: CORSRule[] = [
      {
        ID: 'upload',
        AllowedOrigins: ['https://*.example', 'http://localhost:3000'],
        AllowedMethods: ['PUT', 'POST', 'DELETE', 'HEAD'],
        AllowedHeaders: ['*'],
        ExposeHeaders: ['ETag', 'x-amz-version-id'],
        MaxAgeSeconds: 0,
      },
      plain,
    ];
    await putRules(bucket, ...rules);
    expect(await rulesOf(bucket)).toEqual(rules);
    await putRules(bucket, plain);
    expect(await rulesOf(bucket)).toEqual([plain]);
    const { $metadata } = await service.client.send(new DeleteBucketCorsCommand({ Bucket: bucket }));
    expect($metadata.httpStatusCode).toBe(204);
    await expect(rulesOf(bucket)).rejects.toEqual(s3Error('NoSuchCORSConfiguration', 404));
    await service.client.send(new DeleteBucketCorsCommand({ Bucket: bucket }));
  });

  it('are at most 100', async () => {
    const bucket = await service.bucket();
    await putRules(bucket, ...Array.from({ length: 100 }, () => plain));
    const request = putRules(bucket, ...Array.from({ length: 101 }, () => plain));
    await expect(request).rejects.toEqual(s3Error('InvalidRequest', 400));
    expect(await rulesOf(bucket)).toHaveLength(100);
  });

  it.each<[string, CORSRule]>([
    ['an unknown method', { ...plain, AllowedMethods: ['PATCH'] }],
    ['two stars in an origin', { ...plain, AllowedOrigins: ['https://*.*.example'] }],
    ['two stars in a header', { ...plain, AllowedHeaders: ['*-*'] }],
    ['a line feed in a header', { ...plain, ExposeHeaders: ['ETag\r\nSet-Cookie: a=b'] }],
  ])('are refused for %s', async (_, rule) => {
    const bucket = await service.bucket();
    await expect(putRules(bucket, rule)).rejects.toEqual(s3Error('InvalidRequest', 400));
    await expect(rulesOf(bucket)).rejects.toEqual(s3Error('NoSuchCORSConfiguration', 404));
  });

  it('are refused to everybody else, and do not apply to other buckets', async () => {
    const bucket = await service.bucket();
    await putRules(bucket, plain);
    for (const command of [
      new GetBucketCorsCommand({ Bucket: bucket }),
      new DeleteBucketCorsCommand({ Bucket: bucket }),
      new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules: [plain] } }),
    ]) {
      await expect(service.stranger.send(command as GetBucketCorsCommand)).rejects.toEqual(
        s3Error('AccessDenied', 403),
      );
    }
    await expect(rulesOf(service.freeName())).rejects.toEqual(s3Error('NoSuchBucket', 404));
    expect(await rulesOf(bucket)).toEqual([plain]);
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/RESTOPTIONSobject.html */
describe('Preflight', () => {
  it('follows the rules that the SDK has set', async () => {
    const bucket = await service.bucket();
    await putRules(bucket, { ...plain, AllowedMethods: ['PUT'], AllowedHeaders: ['content-type'] });
    const ask = (method: string): Promise<Response> =>
      fetch(`${service.url}/${bucket}/key`, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://app.example',
          'access-control-request-method': method,
          'access-control-request-headers': 'content-type',
        },
      });
    const [fits, other] = [await ask('PUT'), await ask('DELETE')];
    expect([fits.status, fits.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    await Promise.all([fits.text(), other.text()]);
  });
});
