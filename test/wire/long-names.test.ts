import { describe, it } from 'vitest';
import { expectError } from '../support/expect-error.ts';
import { serviceUnderTest } from '../support/service-under-test.ts';

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
  ])('is that of no bucket: $method $query', async (request) => {
    expectError(await service.send(request), 404, 'NoSuchBucket');
    expectError(await service.sendUnsigned(request), 404, 'NoSuchBucket');
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
