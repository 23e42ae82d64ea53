import { DeleteBucketPolicyCommand, PutBucketAclCommand, PutBucketPolicyCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { put, read, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

/** Requests without credentials, where nothing is open to everybody. */

const service = serviceUnderTest();

describe('an anonymous caller', () => {
  it('has no buckets', async () => {
    await service.bucket();
    const response = await service.sendUnsigned({ path: '/' });
    expect(response.status).toBe(200);
    expect(response.text).toMatch(/<Buckets\/>/);
  });

  it('may do nothing', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const deletion = '<Delete><Object><Key>key</Key></Object></Delete>';
    for (const request of [
      { path: `/${bucket}` },
      { path: `/${bucket}`, query: 'list-type=2' },
      { path: `/${bucket}`, query: 'versions' },
      { path: `/${bucket}`, query: 'uploads' },
      { path: `/${bucket}`, query: 'location' },
      { path: `/${bucket}`, query: 'versioning' },
      { path: `/${bucket}/key` },
      { path: `/${bucket}/missing` },
      { path: `/${bucket}/key`, query: 'versionId=null' },
      { path: `/${bucket}/key`, query: 'partNumber=1' },
      { method: 'PUT', path: `/${bucket}/key`, body: 'other' },
      { method: 'PUT', path: `/${bucket}/new`, body: 'x' },
      { method: 'POST', path: `/${bucket}/new`, query: 'uploads' },
      { method: 'POST', path: `/${bucket}`, query: 'delete', body: deletion },
      { method: 'DELETE', path: `/${bucket}/key` },
      { method: 'DELETE', path: `/${bucket}/key`, query: 'versionId=null' },
      { method: 'DELETE', path: `/${bucket}` },
      { method: 'PUT', path: `/${service.freeName()}` },
      { method: 'PUT', path: `/${bucket}`, query: 'versioning', body: '<VersioningConfiguration/>' },
    ]) {
      expectError(await service.sendUnsigned(request), 403, 'AccessDenied');
    }
    for (const path of [`/${bucket}`, `/${bucket}/key`, `/${bucket}/missing`]) {
      expect((await service.sendUnsigned({ method: 'HEAD', path })).status).toBe(403);
    }
    expect(await read(service.client, bucket, 'key')).toBe('content');
    expect(await versionsOf(service.client, bucket)).toHaveLength(1);
  });

  it('has no document read where nothing is open to them', async () => {
    const bucket = await service.bucket();
    const malformed = { method: 'POST', path: `/${bucket}`, query: 'delete', body: '<Delete><Object>' };
    expectError(await service.sendUnsigned(malformed), 403, 'AccessDenied');
    expectError(await service.send(malformed, { key: service.bob }), 400, 'MalformedXML');
    const open = {
      Effect: 'Allow',
      Principal: '*',
      Action: 's3:DeleteObject',
      Resource: `arn:aws:s3:::${bucket}/open/*`,
    };
    const policy = JSON.stringify({ Version: '2012-10-17', Statement: [open] });
    await service.client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: policy }));
    expectError(await service.sendUnsigned(malformed), 400, 'MalformedXML');
    await service.client.send(new DeleteBucketPolicyCommand({ Bucket: bucket }));
    await service.client.send(new PutBucketAclCommand({ Bucket: bucket, ACL: 'public-read-write' }));
    expectError(await service.sendUnsigned(malformed), 400, 'MalformedXML');
  });

  it('is told that a bucket is not there', async () => {
    for (const path of [`/${service.freeName()}`, `/${service.freeName()}/key`]) {
      expectError(await service.sendUnsigned({ path }), 404, 'NoSuchBucket');
      expectError(await service.send({ path }, { key: service.bob }), 404, 'NoSuchBucket');
      expectError(await service.send({ path }), 404, 'NoSuchBucket');
    }
  });

  it('is not a caller who tried to sign', async () => {
    const bucket = await service.bucket();
    for (const request of [
      { path: '/', headers: { authorization: '' } },
      { path: '/', headers: { authorization: 'nonsense' } },
      { path: '/', headers: { authorization: 'AWS4-HMAC-SHA256' } },
      { path: '/', query: 'X-Amz-Signature=abc' },
      { path: '/', query: 'x-amz-algorithm=AWS4-HMAC-SHA256' },
      { path: '/', query: 'X-Amz-Credential=AKALICE' },
      { path: '/', query: 'AWSAccessKeyId=AKALICE&Signature=abc&Expires=99999999999' },
      { path: `/${bucket}`, query: 'AWSAccessKeyId=AKALICE' },
    ]) {
      const response = await service.sendUnsigned(request);
      expect(response.status, JSON.stringify(request)).toBeGreaterThanOrEqual(400);
    }
  });

  it('is held to the hash of the body, if there is one', async () => {
    const bucket = await service.bucket();
    const headers = { 'x-amz-content-sha256': 'nonsense' };
    const response = await service.sendUnsigned({ method: 'PUT', path: `/${bucket}/key`, headers, body: 'x' });
    expectError(response, 400, 'InvalidArgument');
  });
});

describe('a stranger', () => {
  it('may do nothing in the bucket of others, with its versions and uploads neither', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    for (const request of [
      { path: `/${bucket}` },
      { path: `/${bucket}`, query: 'versions' },
      { path: `/${bucket}`, query: 'uploads' },
      { path: `/${bucket}/key`, query: 'versionId=null' },
      { path: `/${bucket}/key`, query: 'tagging' },
      { path: `/${bucket}/key`, query: 'uploadId=x' },
      { method: 'PUT', path: `/${bucket}/key`, query: 'partNumber=1&uploadId=x', body: 'x' },
      { method: 'POST', path: `/${bucket}/key`, query: 'uploads' },
      { method: 'DELETE', path: `/${bucket}/key`, query: 'uploadId=x' },
      { method: 'DELETE', path: `/${bucket}/key` },
      { method: 'DELETE', path: `/${bucket}` },
    ]) {
      expectError(await service.send(request, { key: service.bob }), 403, 'AccessDenied');
    }
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });

  it('cannot use a URL that was presigned for a bucket that is now another one', async () => {
    const bucket = await service.bucket();
    expect((await service.send({ method: 'DELETE', path: `/${bucket}` })).status).toBe(204);
    expect((await service.send({ method: 'PUT', path: `/${bucket}` }, { key: service.bob })).status).toBe(200);
    const secret = { method: 'PUT', path: `/${bucket}/key`, body: 'of bob' };
    expect((await service.send(secret, { key: service.bob })).status).toBe(200);
    expectError(await service.sendPresigned({ path: `/${bucket}/key` }), 403, 'AccessDenied');
    await service.send({ method: 'DELETE', path: `/${bucket}/key` }, { key: service.bob });
    await service.send({ method: 'DELETE', path: `/${bucket}` }, { key: service.bob });
  });
});
