import { CreateBucketCommand, DeleteBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { put, read, setVersioning, versionsOf } from '../support/storage/objects.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import {
  basicTime,
  neutralWords,
  presigned,
  sha256,
  signed,
  type Presigning,
  type Unsigned,
} from '../support/clients/signer.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html */

const service = serviceUnderTest();
const minute = 60_000;

let bucket: string;
beforeEach(async () => {
  bucket = bucketName();
  await service.client.send(new CreateBucketCommand({ Bucket: bucket }));
});
afterEach(async () => {
  expect((await versionsOf(service.client, bucket)).map(({ key }) => key)).toEqual([]);
  await service.client.send(new DeleteBucketCommand({ Bucket: bucket }));
});

const upload = (more: Partial<Unsigned> = {}): Unsigned => ({
  method: 'PUT',
  path: `/${bucket}/key`,
  body: 'content',
  ...more,
});

/** Sends a presigned upload. */
function send(presigning: Partial<Presigning> = {}, more: Partial<Unsigned> = {}): Promise<RawResponse> {
  return service.sendPresigned(upload(more), presigning);
}

/** Presigns an upload and changes the URL or the headers before it is sent. */
function changed(change: { target?: (url: string) => string; headers?: Record<string, string> }) {
  const request = presigned(service.host, upload(), { key: service.alice });
  return exchange(service.url, {
    ...request,
    target: change.target?.(request.target) ?? request.target,
    headers: [...request.headers, ...Object.entries(change.headers ?? {})],
  });
}

async function expectUploaded(response: RawResponse): Promise<void> {
  expect(response.status, response.text).toBe(200);
  expect(await read(service.client, bucket, 'key')).toBe('content');
  expect((await service.send({ method: 'DELETE', path: `/${bucket}/key` })).status).toBe(204);
}

describe('a presigned URL', () => {
  it('takes the place of the Authorization header', async () => {
    await expectUploaded(await send());
    await expectUploaded(await send({ words: neutralWords }));
    await expectUploaded(await send({ region: 'anywhere' }));
    await expectUploaded(await send({ parameters: { 'X-Amz-Expires': '604800' } }));
  });

  it('may have headers that it did not sign, if they do not begin with x-amz-', async () => {
    await expectUploaded(await changed({ headers: { 'content-type': 'text/plain', 'if-none-match': '*' } }));
    await put(service.client, bucket, 'key', 'content');
    const response = await exchange(service.url, {
      ...presigned(service.host, { path: `/${bucket}/key` }, { key: service.alice }),
      headers: [
        ['host', service.host],
        ['range', 'bytes=0-2'],
      ],
    });
    expect([response.status, response.text]).toEqual([206, 'con']);
    await service.send({ method: 'DELETE', path: `/${bucket}/key` });
  });

  it.each(['x-amz-copy-source', 'x-amz-acl', 'x-amz-tagging', 'x-amz-meta-a', 'x-amz-content-sha256'])(
    'does not hold with the further header %s',
    async (name) => {
      const response = await changed({ headers: { [name]: `/${bucket}/other` } });
      expectError(response, 403, 'AccessDenied');
      expect(textOf(response.text, 'HeadersNotSigned')).toBe(name);
    },
  );

  it('may sign headers, which must be sent then', async () => {
    const request = upload({ headers: { 'x-amz-meta-a': '1' } });
    const signed = presigned(service.host, request, { key: service.alice });
    await expectUploaded(await exchange(service.url, signed));
    const headers = signed.headers.filter(([name]) => name !== 'x-amz-meta-a');
    expectError(await exchange(service.url, { ...signed, headers }), 403, 'SignatureDoesNotMatch');
  });

  it('holds for one method only', async () => {
    const upload = presigned(service.host, { method: 'PUT', path: `/${bucket}/key` }, { key: service.alice });
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      const response = await exchange(service.url, { ...upload, method });
      expect(response.status).toBe(403);
      if (method !== 'HEAD') expectError(response, 403, 'SignatureDoesNotMatch');
    }
  });

  it.each([
    ['another key', (url: string) => url.replace('/key?', '/other?')],
    ['a further parameter', (url: string) => `${url}&versionId=null`],
    ['a parameter before', (url: string) => url.replace('?', '?acl&')],
    ['a longer validity', (url: string) => url.replace('Expires=300', 'Expires=3000')],
    ['a longer validity beside the first', (url: string) => url.replace('&X-Amz-Expires=', '&X-Amz-Expires=3000$&')],
    ['another spelling of its parameters', (url: string) => url.replace('X-Amz-Expires', 'x-amz-expires')],
    ['a wrong signature before it', (url: string) => url.replace('?', `?X-Amz-Signature=${'0'.repeat(64)}&`)],
    ['a wrong signature behind it', (url: string) => `${url}&X-Amz-Signature=${'0'.repeat(64)}`],
    ['another signature', (url: string) => url.replace(/Signature=.*/, `Signature=${'0'.repeat(64)}`)],
    ['a signature in upper case', (url: string) => url.replace(/[0-9a-f]{64}$/, (hex) => hex.toUpperCase())],
  ])('does not hold with %s', async (_, target) => {
    expectError(await changed({ target }), 403, 'SignatureDoesNotMatch');
  });

  it('may have been signed with its parameters in any case', async () => {
    const request = presigned(service.host, upload(), {
      key: service.alice,
      parameters: { 'X-Amz-Expires': undefined, 'x-amz-expires': '300' },
    });
    await expectUploaded(await exchange(service.url, request));
  });

  it('does not hold for another secret, nor for a key that nobody has', async () => {
    const guessed = { ...service.alice, secretAccessKey: 'guessed' };
    expectError(await send({ key: guessed }), 403, 'SignatureDoesNotMatch');
    expectError(await send({ key: { ...service.alice, accessKeyId: 'AKNOBODY' } }), 403, 'InvalidAccessKeyId');
  });

  it.each([
    'X-Amz-Algorithm',
    'X-Amz-Credential',
    'X-Amz-Date',
    'X-Amz-Expires',
    'X-Amz-SignedHeaders',
    'X-Amz-Signature',
  ])('is malformed without %s, and never anonymous', async (name) => {
    expectError(await send({ parameters: { [name]: undefined } }), 400, 'AuthorizationQueryParametersError');
    expectError(await send({ parameters: { [name]: '' } }), 400, 'AuthorizationQueryParametersError');
  });

  it.each([
    ['an unknown algorithm', { 'X-Amz-Algorithm': 'AWS5-HMAC-SHA256' }],
    ['a date that is none', { 'X-Amz-Date': '2026-11-20T10:00:00Z' }],
    ['a credential without a scope', { 'X-Amz-Credential': 'AKALICE' }],
    ['signed headers in upper case', { 'X-Amz-SignedHeaders': 'Host' }],
    ['a signed header twice over', { 'X-Amz-SignedHeaders': 'host;host' }],
  ])('is malformed with %s', async (_, parameters) => {
    expectError(await send({ parameters }), 400, 'AuthorizationQueryParametersError');
  });

  it.each([
    ['AWS4 with svc4_request', { terminator: 'svc4_request' }],
    ['SVC4 with aws4_request', { ...neutralWords, terminator: 'aws4_request' }],
    ['another service', { service: 'ec2' }],
  ])('is malformed with mixed words: %s', async (_, words) => {
    expectError(await send({ words }), 400, 'AuthorizationQueryParametersError');
  });

  it('is malformed if its date is not of the day of its credential', async () => {
    const response = await send({ day: basicTime(Date.now() - 24 * 60 * minute).slice(0, 8) });
    expectError(response, 400, 'AuthorizationQueryParametersError');
  });

  it('must sign the host', async () => {
    expectError(await send({ unsigned: ['host'], parameters: { 'X-Amz-SignedHeaders': 'date' } }), 403, 'AccessDenied');
  });

  it('does not go with a session token', async () => {
    expectError(await send({ parameters: { 'X-Amz-Security-Token': 'token' } }), 400, 'InvalidToken');
  });

  it('may say the hash of the body, in a header or as a parameter, and is held to it', async () => {
    const hash = sha256('content');
    await expectUploaded(await send({}, { headers: { 'x-amz-content-sha256': hash } }));
    const wrong = await send({}, { headers: { 'x-amz-content-sha256': sha256('other') } });
    expectError(wrong, 400, 'XAmzContentSHA256Mismatch');
  });

  it('ignores checksums in its query, where a presigner puts that of an empty body', async () => {
    const url = await getSignedUrl(service.client, new PutObjectCommand({ Bucket: bucket, Key: 'key' }));
    expect(url).toContain('x-amz-checksum-crc32=AAAAAA');
    const response = await fetch(url, { method: 'PUT', body: 'content' });
    expect(response.status).toBe(200);
    expect(await read(service.client, bucket, 'key')).toBe('content');
    await service.send({ method: 'DELETE', path: `/${bucket}/key` });
    await expectUploaded(await send({ parameters: { 'x-amz-sdk-checksum-algorithm': 'SHA256' } }));
  });

  it('does not go with credentials of another kind', async () => {
    const { headers } = signed(service.host, upload(), { key: service.alice });
    const authorization = headers.find(([name]) => name === 'authorization')![1];
    expectError(await changed({ headers: { authorization } }), 400, 'InvalidArgument');
    const version2 = '&AWSAccessKeyId=AKALICE&Signature=a&Expires=99999999999';
    expectError(await changed({ target: (url) => url + version2 }), 400, 'InvalidArgument');
  });

  it('names a version if that was signed', async () => {
    await setVersioning(service.client, bucket, 'Enabled');
    const first = await put(service.client, bucket, 'key', 'first');
    const second = await put(service.client, bucket, 'key', 'second');
    const request: Unsigned = { path: `/${bucket}/key`, query: `versionId=${first.VersionId}` };
    expect((await service.sendPresigned(request)).text).toBe('first');
    for (const { VersionId } of [first, second]) {
      await service.send({ method: 'DELETE', path: `/${bucket}/key`, query: `versionId=${VersionId}` });
    }
  });
});

describe('the validity of a presigned URL', () => {
  it.each(['0', '-1', '604801', '1e99', 'NaN', '300.5', '99999999999999999999', ' 300'])(
    'must be from one second to a week: "%s"',
    async (expires) => {
      expectError(await send({ parameters: { 'X-Amz-Expires': expires } }), 403, 'AccessDenied');
    },
  );

  it('ends', async () => {
    const response = await send({ time: Date.now() - 10 * minute });
    expectError(response, 403, 'AccessDenied');
    expect(textOf(response.text, 'Message')).toBe('Request has expired');
    expect(textOf(response.text, 'X-Amz-Expires')).toBe('300');
    const expires = Date.parse(textOf(response.text, 'Expires')!);
    const now = Date.parse(textOf(response.text, 'ServerTime')!);
    expect(Math.abs(now - expires - 5 * minute)).toBeLessThan(5000);
  });

  it('begins a quarter of an hour before the URL was signed', async () => {
    await expectUploaded(await send({ time: Date.now() + 14 * minute }));
    const response = await send({ time: Date.now() + 16 * minute });
    expectError(response, 403, 'AccessDenied');
    expect(textOf(response.text, 'Message')).toBe('Request is not valid yet');
  });

  it('is not ended by the skew that requests are allowed', async () => {
    await expectUploaded(
      await send({ time: Date.now() - 60 * minute, parameters: { 'X-Amz-Expires': String(2 * 60 * 60) } }),
    );
  });
});
