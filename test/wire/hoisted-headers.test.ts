import {
  CopyObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { put, read } from '../support/storage/objects.ts';
import { exchange, type RawRequest, type RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { presignedV2 } from '../support/clients/signer-v2.ts';
import { presigned, uriEncode, type Unsigned } from '../support/clients/signer.ts';

/** SDKs move headers into the query of a presigned URL, so that its user need not send them. */
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

  it('are refused where they ask for what is not supported, or could end a header', async () => {
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

  it.each(['%0D%0A', '%09', '%00', '%7F'])(
    'are refused with the control character %s in a value',
    async (character) => {
      const bucket = await service.bucket();
      for (const presign of [version4, version2]) {
        const query = `x-amz-meta-a=1${character}2`;
        expectError(await send(presign({ method: 'PUT', path: `/${bucket}/key`, query })), 400, 'InvalidArgument');
      }
      expect(await keysOf(bucket)).toEqual([]);
    },
  );

  it.each(['a b', 'a:b', 'é', 'a\r\nb', 'a\nx-amz-meta-b', 'a\0', '\u212a', 'a(b)', 'a/b', 'a"b'])(
    'are refused with the name x-amz-meta- and %j, which no header has',
    async (name) => {
      const bucket = await service.bucket();
      for (const presign of [version4, version2]) {
        const query = `x-amz-meta-${uriEncode(name)}=1`;
        const request = presign({ method: 'PUT', path: `/${bucket}/key`, query, body: 'x' });
        expectError(await send(request), 400, 'InvalidArgument');
      }
      expect(await keysOf(bucket)).toEqual([]);
    },
  );

  it('may have any name that a header has, and any text as their value', async () => {
    const bucket = await service.bucket();
    const token = "!#$%&'*+-.^_`|~09az";
    for (const presign of [version4, version2]) {
      const query = `x-amz-meta-${uriEncode(token)}=%20%C3%A0%20`;
      const sent = presign({ method: 'PUT', path: `/${bucket}/key`, query, body: 'x' });
      const response = await send(sent);
      expect(response.status, response.text).toBe(200);
      const answer = await service.send({ path: `/${bucket}/key` });
      expect(answer.header(`x-amz-meta-${token}`)).toBe(Buffer.from('à').toString('latin1'));
    }
  });

  it('are one header each: a name cannot hold the end of one and the beginning of the next', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'content');
    const path = `/${bucket}/key`;
    const query = `x-amz-copy-source=/${bucket}/source&x-amz-meta-a=1`;
    const copy = version2({ method: 'PUT', path, query, body: '' });
    const joined = `x-amz-copy-source%3A%2F${bucket}%2Fsource%0Ax-amz-meta-a=1`;
    const target = copy.target.replace(/x-amz-copy-source.*?a=1/, joined);
    expect(target).toContain(joined);
    expectError(await send({ ...copy, target }), 400, 'InvalidArgument');
    expect(await keysOf(bucket)).toEqual(['source']);
    expect((await send(copy)).status).toBe(200);
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });

  it.each([
    ['%20', 'a b'],
    ['%2B', 'a+b'],
  ])('have a bare plus for what was signed: %s', async (meant, value) => {
    const bucket = await service.bucket();
    for (const presign of [version4, version2]) {
      const query = `x-amz-meta-a=a${meant}b`;
      const request = presign({ method: 'PUT', path: `/${bucket}/key`, query, body: 'content' });
      const target = request.target.replace(query, query.replaceAll(meant, '+'));
      expect(target).toContain('a+b');
      const response = await send({ ...request, target });
      expect(response.status, response.text).toBe(200);
      const stored = await service.send({ method: 'HEAD', path: `/${bucket}/key` });
      expect(stored.header('x-amz-meta-a')).toBe(value);
    }
  });
});

/** Of each version of signatures. In version 2 the headers are signed where they stand in the query. */
function version4(request: Unsigned): RawRequest {
  return presigned(service.host, request, { key: service.alice });
}

function version2(request: Unsigned): RawRequest {
  return presignedV2(service.host, request, { key: service.alice, hoisted: true });
}

function send(request: RawRequest): Promise<RawResponse> {
  return exchange(service.url, request);
}

async function keysOf(bucket: string): Promise<(string | undefined)[]> {
  const { Contents = [] } = await service.client.send(new ListObjectsV2Command({ Bucket: bucket }));
  return Contents.map(({ Key }) => Key);
}
