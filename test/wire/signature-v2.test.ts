import { beforeEach, describe, expect, it } from 'vitest';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { put, read } from '../support/storage/objects.ts';
import { exchange, type RawRequest, type RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest, takesSettings } from '../support/programs/service-under-test.ts';
import type { Unsigned } from '../support/clients/signer.ts';
import { presignedV2, signedV2, type HeaderSigningV2, type PresigningV2 } from '../support/clients/signer-v2.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html */

const service = serviceUnderTest();

let bucket: string;
beforeEach(async () => {
  bucket = await service.bucket();
});

const upload = (more: Partial<Unsigned> = {}): Unsigned => ({
  method: 'PUT',
  path: `/${bucket}/key`,
  body: 'content',
  ...more,
});

const sign = (more: Partial<Unsigned> = {}, signing: Partial<HeaderSigningV2> = {}): RawRequest =>
  signedV2(service.host, upload(more), { key: service.alice, ...signing });
const presign = (more: Partial<Unsigned> = {}, signing: Partial<PresigningV2> = {}): RawRequest =>
  presignedV2(service.host, upload(more), { key: service.alice, ...signing });
const signGet = (more: Partial<Unsigned> = {}): RawRequest =>
  signedV2(service.host, { path: `/${bucket}/key`, ...more }, { key: service.alice });
const send = (request: RawRequest): Promise<RawResponse> => exchange(service.url, request);

async function expectUploaded(request: RawRequest): Promise<void> {
  const response = await send(request);
  expect(response.status, response.text).toBe(200);
  expect(await read(service.client, bucket, 'key')).toBe('content');
}

async function expectNothing(): Promise<void> {
  const { text } = await send(signGet({ path: `/${bucket}` }));
  expect(textOf(text, 'Key')).toBeUndefined();
}

describe('a header signed by version 2', () => {
  it.each(['AWS ', 'SVC ', ''] as const)('is taken after the word %j', async (word) => {
    await expectUploaded(sign({}, { word }));
  });

  it('is taken from a key whose id has colons', async () => {
    const response = await send(signedV2(service.host, { path: '/' }, { key: service.bob }));
    expect(response.status, response.text).toBe(200);
  });

  it('may be dated by x-amz-date, whatever Date says', async () => {
    const headers = { 'x-amz-date': new Date().toUTCString() };
    await expectUploaded(sign({ headers }, { date: 'nonsense' }));
    await expectUploaded(sign({ headers }, { date: null }));
  });

  it.each([
    ['none', {}, null],
    ['an empty one', { 'x-amz-date': '' }, undefined],
    ['one that is none', { 'x-amz-date': 'Bad Date' }, undefined],
    ['one of before the epoch', { 'x-amz-date': 'Tue, 07 Jul 1950 21:53:04 GMT' }, undefined],
  ])('needs a date, and does not take %s', async (_, headers, date) => {
    expectError(await send(sign({ headers }, date === undefined ? {} : { date })), 403, 'AccessDenied');
    await expectNothing();
  });

  it('is not taken too early or too late', async () => {
    for (const off of [-16 * 60_000, 16 * 60_000]) {
      const date = new Date(Date.now() + off).toUTCString();
      expectError(await send(sign({}, { date })), 403, 'RequestTimeTooSkewed');
    }
    await expectNothing();
  });

  it('covers the metadata, also in fields of one name', async () => {
    const request = sign({ headers: { 'x-amz-meta-a': 'one,two' } });
    const others = request.headers.filter(([name]) => name !== 'x-amz-meta-a');
    const [one, two] = [['X-Amz-Meta-A', ' one '] as const, ['x-amz-meta-a', 'two'] as const];
    await expectUploaded({ ...request, headers: [...others, one, two] });
    expectError(await send({ ...request, headers: [...others, one] }), 403, 'SignatureDoesNotMatch');
  });

  it('covers sub-resources and the overrides of an answer', async () => {
    await put(service.client, bucket, 'key', 'content');
    const query = 'response-content-disposition=attachment%3B%20filename%3D%22%C3%A9%22&versionId=null';
    const request = signGet({ query });
    const response = await send(request);
    expect([response.status, response.text]).toEqual([200, 'content']);
    for (const target of [request.target.replace('null', 'nul'), `${request.target}&response-expires=x`]) {
      expectError(await send({ ...request, target }), 403, 'SignatureDoesNotMatch');
    }
  });

  it('does not let an upload become a copy, a rename or anything else', async () => {
    await put(service.client, bucket, 'other', 'other content');
    for (const request of [sign(), presign()]) {
      const copy = { ...request, headers: [...request.headers, ['x-amz-copy-source', `/${bucket}/other`] as const] };
      expectError(await send(copy), 403, 'SignatureDoesNotMatch');
      const mark = request.target.includes('?') ? '&' : '?';
      const ask = (name: string) => send({ ...request, target: request.target + mark + name });
      for (const name of ['renameObject', 'append', 'encryption', 'retention', 'legal-hold']) {
        expectError(await ask(name), 400, 'InvalidRequest');
      }
      for (const name of ['acl', 'tagging', 'uploadId=x&partNumber=1']) {
        expectError(await ask(name), 403, 'SignatureDoesNotMatch');
      }
    }
    expect(await read(service.client, bucket, 'other')).toBe('other content');
  });

  it('does not let the value of a parameter hold the parameters that were signed', async () => {
    await put(service.client, bucket, 'key', 'content');
    const query = 'response-content-type=text/plain&uploadId=x';
    for (const request of [
      signGet({ query }),
      presignedV2(service.host, { path: `/${bucket}/key`, query }, { key: service.alice }),
    ]) {
      expectError(await send(request), 404, 'NoSuchUpload');
      const target = request.target.replace('&uploadId=', '%26uploadId%3D');
      expectError(await send({ ...request, target }), 400, 'InvalidRequest');
    }
    const name = 'response-content-disposition=attachment%3B%20filename%3D%22a%26versions.txt%22';
    expect((await send(signGet({ query: name }))).text).toBe('content');
  });

  it('leaves listings open, and no parameter of anything else that it does not cover', async () => {
    for (const key of ['a', 'b', 'c']) await put(service.client, bucket, key, key);
    const request = signGet({ path: `/${bucket}` });
    const listed = await send({ ...request, target: `/${bucket}?list-type=2&prefix=b&max-keys=1&x-id=ListObjectsV2` });
    expect([listed.status, textOf(listed.text, 'KeyCount'), textOf(listed.text, 'Key')]).toEqual([200, '1', 'b']);
    await expectUploaded({ ...sign(), target: `/${bucket}/key?prefix=b&anything` });
  });

  it.each([
    ...['monitoring', 'metric-data', 'alarm', 'alarms', 'alarm-history', 'quota'],
    ...['encryption', 'publicAccessBlock', 'ownershipControls'],
  ])('does not reach ?%s', async (query) => {
    expectError(await send(signGet({ path: `/${bucket}`, query })), 400, 'InvalidRequest');
    if (!['encryption', 'publicAccessBlock', 'ownershipControls'].includes(query)) return;
    for (const method of ['PUT', 'DELETE'])
      expectError(await send(signGet({ method, path: `/${bucket}`, query })), 400, 'InvalidRequest');
  });

  it('is not one of chunks', async () => {
    const headers = {
      'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
      'x-amz-decoded-content-length': '7',
    };
    expectError(await send(sign({ headers })), 400, 'InvalidRequest');
    await expectNothing();
  });

  it('does not excuse a bad Content-MD5', async () => {
    expectError(await send(sign({ headers: { 'content-md5': 'bad' } })), 400, 'InvalidDigest');
    expectError(await send(sign({ headers: { 'content-md5': '' } })), 400, 'InvalidDigest');
    await expectNothing();
  });

  it('that is wrong is told what it should be of', async () => {
    const { headers, ...request } = sign({}, { key: { ...service.alice, secretAccessKey: 'wrong' } });
    const response = await send({ ...request, headers });
    expectError(response, 403, 'SignatureDoesNotMatch');
    const date = headers.find(([name]) => name === 'date')![1];
    expect(textOf(response.text, 'StringToSign')).toBe(`PUT\n\n\n${date}\n/${bucket}/key`);
    await expectNothing();
  });

  it('does not cover a header that is folded over several lines: such a request is refused', async () => {
    const { headers, ...request } = sign();
    const folded = [...headers, ['x-amz-meta-folded', 'one\r\n two']] as typeof headers;
    expect((await send({ ...request, headers: folded })).status).toBe(400);
    await expectNothing();
  });

  it.each(['AWS garbage', 'AWS', 'AWS :c2ln', 'AWS AKID:'])('is not %j', async (authorization) => {
    const { headers, ...request } = sign();
    const others = headers.filter(([name]) => name !== 'authorization');
    const response = await send({ ...request, headers: [...others, ['authorization', authorization]] });
    expectError(response, 400, 'InvalidArgument');
  });
});

describe.runIf(takesSettings)('an operator', () => {
  const strict = serviceUnderTest({ args: ['--no-signature-v2'] });

  it('can do without version 2', async () => {
    const root = { path: '/' };
    expect((await strict.send(root)).status).toBe(200);
    const key = strict.alice;
    for (const request of [signedV2(strict.host, root, { key }), presignedV2(strict.host, root, { key })]) {
      const response = await exchange(strict.url, request);
      expectError(response, 400, 'InvalidRequest');
      expect(textOf(response.text, 'Message')).toMatch(/Please use AWS4-HMAC-SHA256/);
    }
  });
});

describe('a URL presigned by version 2', () => {
  it.each(['AWSAccessKeyId', 'SVCAccessKeyId'])('is taken with its %s', async (keyName) => {
    await expectUploaded(presign({}, { keyName }));
  });

  it.each(['0', '-1', 'NaN', '1e99', '1000000000', '4000000000', '9'.repeat(20)])(
    'is not good until %s',
    async (expires) => {
      expectError(await send(presign({}, { expires })), 403, 'AccessDenied');
      await expectNothing();
    },
  );

  it('is taken for nobody’s if it is incomplete', async () => {
    for (const name of ['AWSAccessKeyId', 'Expires', 'Signature']) {
      const { target, ...request } = presign();
      const without = target.replace(new RegExp(`[?&]${name}=[^&]*`), '').replace('key&', 'key?');
      expectError(await send({ ...request, target: without }), 403, 'AccessDenied');
    }
    await expectNothing();
  });

  it('holds for one method, one key and one time', async () => {
    const request = presign();
    const target = request.target.replace(
      /Expires=\d+/,
      (expires) => `${expires.slice(0, -1)}${9 - Number(expires.at(-1))}`,
    );
    for (const change of [{ method: 'DELETE' }, { target: request.target.replace('/key?', '/kez?') }, { target }]) {
      expectError(await send({ ...request, ...change }), 403, 'SignatureDoesNotMatch');
    }
  });

  it('cannot be mixed with version 4', async () => {
    const request = presign();
    expectError(await send({ ...request, target: `${request.target}&X-Amz-Signature=x` }), 400, 'InvalidArgument');
    const authorization = sign().headers.at(-1)!;
    expectError(await send({ ...request, headers: [...request.headers, authorization] }), 400, 'InvalidArgument');
  });
});
