import { describe, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { exchange } from '../support/clients/raw-client.ts';
import { accounts } from '../support/programs/server.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { presignedV2, signedV2 } from '../support/clients/signer-v2.ts';

/** Names that are longer than anything here can be called: they are of nothing, and no request fails for them. */

const service = serviceUnderTest();
const long = 'x'.repeat(3000);
const completion =
  '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>';

describe('a name of 3,000 characters', () => {
  it.each([
    { path: `/${long}` },
    { path: `/${long}/key` },
    { path: `/${long}/key`, query: 'acl' },
    { method: 'DELETE', path: `/${long}` },
  ])('can be that of no bucket: $method $query', async (request) => {
    expectError(await service.send(request), 400, 'InvalidBucketName');
    expectError(await service.sendUnsigned(request), 400, 'InvalidBucketName');
  });

  it.each([
    { query: `uploadId=${long}` },
    { method: 'PUT', query: `partNumber=1&uploadId=${long}`, body: 'x' },
    { method: 'POST', query: `uploadId=${long}`, body: completion },
    { method: 'DELETE', query: `uploadId=${long}` },
  ])('is that of no upload: $method', async (request) => {
    const bucket = await service.bucket();
    expectError(await service.send({ path: `/${bucket}/key`, ...request }), 404, 'NoSuchUpload');
    expectError(await service.send({ path: `/${bucket}/key`, ...request }, { key: service.bob }), 403, 'AccessDenied');
  });

  it('is that of no access key, however it signs', async () => {
    const key = { accessKeyId: long, secretAccessKey: 'secret' };
    const request = { path: '/' };
    for (const response of [
      await service.send(request, { key }),
      await service.sendPresigned(request, { key }),
      await exchange(service.url, signedV2(service.host, request, { key })),
      await exchange(service.url, presignedV2(service.host, request, { key })),
    ]) {
      expectError(response, 403, 'InvalidAccessKeyId');
    }
  });

  it.each([long, `a@${long}`, `arn:aws:iam::${long}:root`, `arn:aws:iam::${accounts[0].id}:user/${long}`])(
    'is that of no principal: %.40s',
    async (name) => {
      const bucket = await service.bucket();
      const statement = { Effect: 'Allow', Action: 's3:*', Resource: `arn:aws:s3:::${bucket}` };
      const body = JSON.stringify({ Statement: [{ ...statement, Principal: { AWS: name } }] });
      expectError(
        await service.send({ method: 'PUT', path: `/${bucket}`, query: 'policy', body }),
        400,
        'MalformedPolicy',
      );
    },
  );

  it.each([
    [`id=${long}`, 'InvalidArgument'],
    [`uri=${long}`, 'InvalidArgument'],
    [`emailAddress=${long}`, 'UnresolvableGrantByEmailAddress'],
  ])('is that of no grantee: %.12s', async (grantee, code) => {
    const bucket = await service.bucket();
    const headers = { 'x-amz-grant-read': grantee };
    expectError(await service.send({ method: 'PUT', path: `/${bucket}`, query: 'acl', headers }), 400, code);
  });
});
