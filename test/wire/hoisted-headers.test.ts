import {
  CopyObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { describe, expect, it } from 'vitest';
import { expectError } from '../support/expect-error.ts';
import { put, read } from '../support/objects.ts';
import { serviceUnderTest } from '../support/service-under-test.ts';

/** SDKs move headers into the query of a presigned URL, so that whoever uses it need not send them. */
const service = serviceUnderTest();

async function upload(bucket: string, more: Partial<PutObjectCommandInput>): Promise<string> {
  const command = new PutObjectCommand({ Bucket: bucket, Key: 'key', ...more });
  return getSignedUrl(service.client, command, { expiresIn: 60 });
}

const head = (bucket: string) => service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'key' }));

describe('headers in the query of a presigned URL', () => {
  it('are metadata and tags of an upload like any other', async () => {
    const bucket = await service.bucket();
    const url = await upload(bucket, { Metadata: { colour: 'blue green' }, Tagging: 'team=red%20one' });
    expect(url).toContain('x-amz-meta-colour=');
    const response = await fetch(url, { method: 'PUT', body: 'content' });
    expect(response.status, await response.text()).toBe(200);
    expect((await head(bucket)).Metadata).toEqual({ colour: 'blue green' });
    const { TagSet } = await service.client.send(new GetObjectTaggingCommand({ Bucket: bucket, Key: 'key' }));
    expect(TagSet).toEqual([{ Key: 'team', Value: 'red one' }]);
  });

  it('can ask for encryption', async () => {
    const bucket = await service.bucket();
    const request = { method: 'PUT', path: `/${bucket}/key`, query: 'x-amz-server-side-encryption=AES256', body: 'x' };
    expect((await service.sendPresigned(request)).status).toBe(200);
    expect((await head(bucket)).ServerSideEncryption).toBe('AES256');
  });

  it('can make a copy of it, and never an empty object in its place', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    const command = new CopyObjectCommand({ Bucket: bucket, Key: 'key', CopySource: `${bucket}/source` });
    const url = await getSignedUrl(service.client, command, { expiresIn: 60 });
    const response = await fetch(url, { method: 'PUT' });
    const text = await response.text();
    expect([response.status, text.includes('<CopyObjectResult')], text).toEqual([200, true]);
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });

  it('are refused where they ask for what there is not, or could end a header', async () => {
    const bucket = await service.bucket();
    const path = `/${bucket}/key`;
    const query = 'x-amz-meta-a=1%0D%0Ax-injected%3A%201';
    expectError(await service.sendPresigned({ method: 'PUT', path, query, body: 'x' }), 400, 'InvalidArgument');
    const kms = 'x-amz-server-side-encryption=aws%3Akms';
    expectError(await service.sendPresigned({ method: 'PUT', path, query: kms, body: 'x' }), 501, 'NotImplemented');
  });

  it('are covered by the signature, and mean nothing without one', async () => {
    const bucket = await service.bucket();
    const url = await upload(bucket, { Metadata: { colour: 'blue' } });
    const changed = await fetch(url.replace('=blue', '=red'), { method: 'PUT', body: 'x' });
    expect(changed.status).toBe(403);
    const path = `/${bucket}/key`;
    expect((await service.send({ method: 'PUT', path, query: 'x-amz-meta-a=1', body: 'x' })).status).toBe(200);
    expect((await head(bucket)).Metadata).toEqual({});
  });
});
