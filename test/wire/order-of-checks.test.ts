import { describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { put, setVersioning, versionsOf } from '../support/storage/objects.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import type { Unsigned } from '../support/clients/signer.ts';
import { TestUpload } from '../support/storage/uploads.ts';

/** Of several errors of a request, which is told: rights, then what the request is about, then its body. */

const service = serviceUnderTest();

/** Bodies that are refused, and the code they are refused with. */
const faulty: readonly (readonly [code: string, status: number, request: Partial<Unsigned>])[] = [
  ['MalformedXML', 400, { body: 'text' }],
  ['MaxMessageLengthExceeded', 400, { body: ' '.repeat(4 * 1024 * 1024 + 1) }],
  ['BadDigest', 400, { body: '<Other/>', headers: { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' } }],
];
const withoutLength = { headers: { 'content-length': null } };

async function expectFaults(request: Unsigned): Promise<void> {
  for (const [code, status, more] of faulty) expectError(await service.send({ ...request, ...more }), status, code);
}

/** Expects this error whatever is wrong with the body. */
async function expectOnly(
  request: Unsigned,
  status: number,
  code: string,
  send = (one: Unsigned): Promise<RawResponse> => service.send(one),
): Promise<void> {
  for (const [, , more] of faulty) expectError(await send({ ...request, ...more }), status, code);
  expectError(await send({ ...request, ...withoutLength }), status, code);
}

describe.each(['acl', 'tagging'])('a document for the %s of an object', (query) => {
  it('is not judged if there is no such object or version', async () => {
    const bucket = await service.bucket();
    const request = { method: 'PUT', path: `/${bucket}/key`, query };
    await expectOnly(request, 404, 'NoSuchKey');
    await put(service.client, bucket, 'key', 'content');
    await expectFaults(request);
    await expectOnly({ ...request, query: `${query}&versionId=${'x'.repeat(32)}` }, 404, 'NoSuchKey');
  });

  it('is not judged if there is a delete marker', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const path = `/${bucket}/key`;
    await service.send({ method: 'DELETE', path });
    const [marker] = await versionsOf(service.client, bucket);
    await expectOnly({ method: 'PUT', path, query }, 404, 'NoSuchKey');
    await expectOnly({ method: 'PUT', path, query: `${query}&versionId=${marker!.id}` }, 405, 'MethodNotAllowed');
  });

  it('is not judged for strangers, nor do they learn what exists', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    for (const key of ['key', 'missing']) {
      const request = { method: 'PUT', path: `/${bucket}/${key}`, query };
      await expectOnly(request, 403, 'AccessDenied', (one) => service.sendUnsigned(one));
    }
  });
});

it('an ACL is not judged, in headers or a document, if there is no object', async () => {
  const bucket = await service.bucket();
  const request = { method: 'PUT', path: `/${bucket}/key`, query: 'acl' };
  const nobody = { 'x-amz-grant-read': 'id="nobody"' };
  expectError(await service.send({ ...request, headers: nobody }), 404, 'NoSuchKey');
  expectError(await service.send(request), 404, 'NoSuchKey');
  await put(service.client, bucket, 'key', 'content');
  expectError(await service.send({ ...request, headers: nobody }), 400, 'InvalidArgument');
  expectError(await service.send(request), 400, 'MissingSecurityHeader');
});

it('a list of parts is not judged if there is no such upload', async () => {
  const bucket = await service.bucket();
  const upload = await TestUpload.begin(service.client, bucket);
  const request = { method: 'POST', path: `/${bucket}/key`, query: `uploadId=${upload.id}` };
  await expectOnly({ ...request, query: 'uploadId=unknown' }, 404, 'NoSuchUpload');
  await expectOnly({ ...request, path: `/${bucket}/other` }, 404, 'NoSuchUpload');
  await expectFaults(request);
  await service.send({ ...request, method: 'DELETE' });
  await expectOnly(request, 404, 'NoSuchUpload');
});

describe('a configuration', () => {
  const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
  const headers = { 'transfer-encoding': 'chunked' };

  it.each(['versioning', 'acl', 'cors', 'policy', 'lifecycle', 'website', 'tagging', 'encryption', 'monitoring'])(
    'must have a length: %s',
    async (query) => {
      const bucket = await service.bucket();
      const request = { method: 'PUT', path: `/${bucket}`, query, headers, body: chunk(versioning) };
      const response = await service.send(request, { payloadHash: 'UNSIGNED-PAYLOAD' });
      expectError(response, 411, 'MissingContentLength');
      expect((await service.send({ path: `/${bucket}`, query: 'versioning' })).text).not.toContain('Enabled');
    },
  );

  it('may have its length in x-amz-decoded-content-length', async () => {
    const bucket = await service.bucket();
    const framed = `${versioning.length.toString(16)}\r\n${versioning}\r\n0\r\n\r\n`;
    const decoded = { 'content-encoding': 'aws-chunked', 'x-amz-decoded-content-length': String(versioning.length) };
    const request = {
      ...{ method: 'PUT', path: `/${bucket}`, query: 'versioning' },
      ...{ headers: { ...headers, ...decoded }, body: chunk(framed) },
    };
    const response = await service.send(request, { payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' });
    expect(response.status, response.text).toBe(200);
    expect((await service.send({ path: `/${bucket}`, query: 'versioning' })).text).toContain('Enabled');
  });

  it('is none if it names keys: their length need not be given', async () => {
    const bucket = await service.bucket();
    const body = chunk('<Delete><Object><Key>key</Key></Object></Delete>');
    const request = { method: 'POST', path: `/${bucket}`, query: 'delete', headers, body };
    expect((await service.send(request, { payloadHash: 'UNSIGNED-PAYLOAD' })).status).toBe(200);
  });
});
