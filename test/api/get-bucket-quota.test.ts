import { DeleteBucketPolicyCommand, PutBucketAclCommand, PutBucketPolicyCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { administer } from '../support/storage/administration.ts';
import { expectError } from '../support/clients/expect-error.ts';
import { put } from '../support/storage/objects.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { signedV2 } from '../support/clients/signer-v2.ts';

const service = serviceUnderTest();
const tebibyte = 1024 ** 4;
const defaults = { bytes: 25 * tebibyte, objects: 50_000_000 };

const ask = (bucket: string): Promise<RawResponse> => service.send({ path: `/${bucket}`, query: 'quota' });

const quota = (limit: typeof defaults, bytes: number, objects: number): string =>
  '<?xml version="1.0" encoding="UTF-8"?>\n<BucketQuota xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
  `<BytesLimit>${limit.bytes}</BytesLimit><ObjectsLimit>${limit.objects}</ObjectsLimit>` +
  `<Bytes>${bytes}</Bytes><Objects>${objects}</Objects>` +
  `<BytesBesides>0</BytesBesides><BytesCounted>${bytes}</BytesCounted><IsMet>false</IsMet></BucketQuota>`;

describe('GetBucketQuota', () => {
  it('says what a bucket may hold, and what it holds as HeadBucket has it', async () => {
    const bucket = await service.bucket();
    const empty = await ask(bucket);
    expect([empty.status, empty.header('content-type'), empty.text]).toEqual([
      200,
      'application/xml',
      quota(defaults, 0, 0),
    ]);
    await put(service.client, bucket, 'a', 'x'.repeat(1000));
    await put(service.client, bucket, 'b', '');
    await expect.poll(async () => (await ask(bucket)).text).toBe(quota(defaults, 1000, 2));
    const head = await service.send({ method: 'HEAD', path: `/${bucket}` });
    expect([head.header('x-rgw-bytes-used'), head.header('x-rgw-object-count')]).toEqual(['1000', '2']);
  });

  it.runIf(isAdministered)('says the quota of the bucket where it has one', async () => {
    const bucket = await service.bucket();
    await administer(service.place, 'quota', 'set', bucket, '--bytes', '5000');
    await expect.poll(async () => (await ask(bucket)).text).toBe(quota({ ...defaults, bytes: 5000 }, 0, 0));
    await administer(service.place, 'quota', 'set', bucket, '--objects', '3', '--bytes', 'default');
    await expect.poll(async () => (await ask(bucket)).text).toBe(quota({ ...defaults, objects: 3 }, 0, 0));
  });

  it("is for the owner's project, whatever ACL and policy say", async () => {
    const bucket = await service.bucket();
    await service.client.send(new PutBucketAclCommand({ Bucket: bucket, ACL: 'public-read-write' }));
    const all = (Effect: string): string =>
      JSON.stringify({
        Version: '2012-10-17',
        Statement: [{ Effect, Principal: '*', Action: 's3:*', Resource: [`arn:aws:s3:::${bucket}`] }],
      });
    await service.client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: all('Allow') }));
    const request = { path: `/${bucket}`, query: 'quota' };
    expectError(await service.send(request, { key: service.bob }), 403, 'AccessDenied');
    expectError(await service.sendUnsigned(request), 403, 'AccessDenied');
    expect((await service.sendPresigned(request)).status).toBe(200);
    await service.client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: all('Deny') }));
    expect((await ask(bucket)).status).toBe(200);
    await service.client.send(new DeleteBucketPolicyCommand({ Bucket: bucket }));
  });

  it('is signed in version 4, and read, of a bucket that is there', async () => {
    const bucket = await service.bucket();
    const request = { path: `/${bucket}`, query: 'quota' };
    const old = signedV2(service.host, request, { key: service.alice });
    expectError(await exchange(service.url, old), 400, 'InvalidRequest');
    expectError(await ask(service.freeName()), 404, 'NoSuchBucket');
    for (const method of ['PUT', 'DELETE', 'POST', 'HEAD']) {
      expect([method, (await service.send({ ...request, method })).status]).toEqual([method, 405]);
    }
    expectError(await service.send({ path: `/${bucket}/key`, query: 'quota' }), 405, 'MethodNotAllowed');
    expectError(await service.send({ ...request, query: 'quota&acl' }), 400, 'InvalidArgument');
  });
});
